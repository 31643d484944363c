//! The mailbox: files that somebody else writes.

use std::{fs::File, time::Duration};

use crate::support::TestShop;

const ENCODED: &str = "From: =?utf-8?b?0JfQtdGA0L3Qvg==?= <shop@example.com>\r\nTo: anna@example.com\r\n\
    Subject: =?utf-8?b?0KfQtdC6INC30LAg0LfQsNC60LDQtw==?=\r\nMIME-Version: 1.0\r\n\
    Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n\
    0KHQv9Cw0YHQuNCx0L4hIDxiPm5vPC9iPg==\r\n";

#[tokio::test]
async fn before_the_first_mail_the_mailbox_is_empty() {
    let shop = TestShop::start().await;
    let page = shop.get("/shop/mailbox", "en").await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("No mails yet"));
}

#[tokio::test]
async fn mails_are_listed_newest_first_and_shown_as_text() {
    let shop = TestShop::start().await;
    shop.put_mail("old.eml", "To: a@example.com\r\nSubject: Old\r\n\r\nwords\r\n");
    age(&shop, "old.eml", 60);
    shop.put_mail("new.eml", ENCODED);
    let page = shop.get("/shop/mailbox", "ru").await;
    assert_eq!(page.all_between(r#"data-mail=""#, '"'), ["new.eml", "old.eml"]);
    assert!(page.body.contains("Чек за заказ") && page.body.contains("anna@example.com"));

    let mail = shop.get("/shop/mailbox/new.eml", "ru").await;
    assert_eq!(mail.status, 200);
    assert!(mail.body.contains("Спасибо! &lt;b&gt;no&lt;/b&gt;"), "{}", mail.body);
    assert!(mail.body.contains("Зерно &lt;shop@example.com&gt;"), "{}", mail.body);
}

#[tokio::test]
async fn a_mail_cut_short_at_any_byte_is_shown_as_far_as_it_goes() {
    let shop = TestShop::start().await;
    for end in (0..ENCODED.len()).step_by(7) {
        shop.put_mail("half.eml", &ENCODED[..end]);
        for path in ["/shop/mailbox", "/shop/mailbox/half.eml"] {
            assert_eq!(shop.get(path, "ru").await.status, 200, "{path} {end}");
        }
    }
    shop.put_mail("half.eml", "");
    assert!(shop.get("/shop/mailbox", "en").await.body.contains("A mail that is being written"));
}

#[tokio::test]
async fn nothing_but_mails_of_the_folder_can_be_read() {
    let shop = TestShop::start().await;
    shop.put_mail("mail.eml", ENCODED);
    let folder = shop.folder.path();
    std::fs::write(folder.join("secret.eml"), "Subject: secret\r\n\r\nsecret").unwrap();
    std::fs::write(folder.join("mails/notes.txt"), "Subject: secret\r\n\r\nsecret").unwrap();
    std::os::unix::fs::symlink(folder.join("secret.eml"), folder.join("mails/link.eml")).unwrap();
    std::fs::create_dir(folder.join("mails/folder.eml")).unwrap();
    for name in [
        "..%2Fsecret.eml",
        "%2e%2e%2fsecret.eml",
        "..%5Csecret.eml",
        "notes.txt",
        "link.eml",
        "folder.eml",
        "none.eml",
        ".eml",
        "mail.eml%00",
        "mail.eml%2F",
        "%D0%B0.eml",
    ] {
        let answer = shop.get(&format!("/shop/mailbox/{name}"), "ru").await;
        assert_eq!(answer.status, 404, "{name}");
        assert!(!answer.body.contains("secret"), "{name}");
    }
    let listed = shop.get("/shop/mailbox", "ru").await;
    assert_eq!(listed.all_between(r#"data-mail=""#, '"'), ["mail.eml"]);
}

#[tokio::test]
async fn a_subject_is_words_and_never_markup() {
    let shop = TestShop::start().await;
    shop.put_mail(
        "evil.eml",
        "To: <script>@x\r\nSubject: <script>alert(1)</script>\r\n\r\n</pre><script>\r\n",
    );
    for path in ["/shop/mailbox", "/shop/mailbox/evil.eml"] {
        assert!(!shop.get(path, "ru").await.body.contains("<script"), "{path}");
    }
}

/// Makes a mail that many seconds older.
fn age(shop: &TestShop, name: &str, seconds: u64) {
    let file = File::options().write(true).open(shop.folder.path().join("mails").join(name)).unwrap();
    let written = file.metadata().unwrap().modified().unwrap();
    file.set_modified(written - Duration::from_secs(seconds)).unwrap();
}
