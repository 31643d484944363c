//! Values: which source wins, and what a wrong one says. `migrate` and `doctor` read the same settings as all commands do.

use crate::support::{Place, SECRET};

const MERCHANT: &str = r#"
[[merchant]]
id = "mer_1"
name = "Zerno"
mode = "test"
secret_key = "sk_test_canary"
publishable_key = "pk_test_zerno"
provider = { kind = "yookassa", account = "100500", secret = "canary", url = "http://127.0.0.1:8090", notify_secret = "canary" }
return_origins = ["https://shop.example"]
frame_origins = ["https://shop.example"]
webhook = { url = "https://shop.example/hook", secret = "whsec_canarycanarycanarycanarycanarycanary" }
"#;

const SETTINGS: [(&str, &str); 14] = [
    ("LISTEN", "listen"),
    ("BANK_LISTEN", "bank-listen"),
    ("DATA", "data"),
    ("DATABASE_URL", "database-url"),
    ("PUBLIC_URL", "public-url"),
    ("BANK_URL", "bank-url"),
    ("BANK_NOTIFY_URL", "bank-notify-url"),
    ("SECRET", "secret"),
    ("SECRET_OLD", "secret-old"),
    ("DEMO_SECRET_KEY", "demo-secret-key"),
    ("SMTP_URL", "smtp-url"),
    ("MAIL_FROM", "mail-from"),
    ("RATE_LIMIT", "rate-limit"),
    ("CONFIG", "config"),
];

#[test]
fn help_teaches_every_command_and_variable() {
    for command in ["demo", "serve", "bank", "migrate", "doctor"] {
        let help = Place::new().run(&[command, "--help"]);
        assert_eq!(help.code, Some(0));
        for (variable, flag) in SETTINGS {
            assert!(help.stdout.contains(&format!("PAYONCE_{variable}")), "{command}: {variable}");
            assert!(help.stdout.contains(&format!("--{flag}")), "{command}: {flag}");
        }
    }
    let help = Place::new().run(&["--help"]).stdout;
    assert!(help.contains("payonce demo") && help.contains("[[merchant]]"));
}

#[test]
fn the_examples_can_be_pasted() {
    let help = Place::new().run(&["--help"]).stdout;
    let (_, example) = help.split_once("then merchants):\n").unwrap();
    let example: String = example.lines().map(|line| format!("{}\n", line.trim())).collect();
    let document = include_str!("../../../docs/configuration.md");
    let (_, fenced) = document.split_once("```toml\n").unwrap();
    let (fenced, _) = fenced.split_once("```").unwrap();
    for text in [example.as_str(), fenced] {
        let ended = Place::new().toml(text).run(&["migrate", "--data", "payonce-data"]);
        assert_eq!(ended.code, Some(0), "{text}\n{}", ended.all());
    }
}

#[test]
fn an_unknown_flag_or_command_ends_with_2() {
    for arguments in [&["serve", "--no-such-flag"][..], &["no-such-command"], &[]] {
        assert_eq!(Place::new().run(arguments).code, Some(2), "{arguments:?}");
    }
}

#[test]
fn flag_wins_over_environment_over_file_over_default() {
    let listens = |place: &Place, arguments: &[&str], port: &str| {
        let told = place.run(&[&["doctor"], arguments].concat()).stdout;
        assert!(told.contains(&format!("listens on 127.0.0.1:{port},")), "{port} in {told}");
    };
    let place = Place::new();
    listens(&place, &[], "8080");
    let place = place.toml("listen = \"127.0.0.1:1001\"");
    listens(&place, &[], "1001");
    let place = place.set("PAYONCE_LISTEN", "127.0.0.1:1002");
    listens(&place, &[], "1002");
    listens(&place, &["--listen", "127.0.0.1:1003"], "1003");
}

#[test]
fn the_file_takes_both_names_of_a_setting_but_not_at_once() {
    let place = Place::new().toml("PAYONCE_LISTEN = \"127.0.0.1:1001\"\nrate_limit = 7");
    assert!(place.run(&["doctor"]).stdout.contains("listens on 127.0.0.1:1001,"));
    let both = Place::new().toml("PAYONCE_LISTEN = \"127.0.0.1:1001\"\nlisten = \"127.0.0.1:1001\"");
    both.run(&["migrate"]).refused(&["listen and PAYONCE_LISTEN are the same"]);
}

#[test]
fn a_wrong_value_is_named_with_what_is_allowed() {
    let wrong = [
        ("PAYONCE_LISTEN", "localhost", "an IP address and a port"),
        ("PAYONCE_BANK_LISTEN", "127.0.0.1:99999", "an IP address and a port"),
        ("PAYONCE_DATA", "", "a path"),
        ("PAYONCE_DATABASE_URL", "mysql://host/db", "sqlite://PATH"),
        ("PAYONCE_DATABASE_URL", "postgres://host/db", "PostgreSQL comes with a later version"),
        ("PAYONCE_PUBLIC_URL", "https://shop.example/pay", "without path"),
        ("PAYONCE_BANK_URL", "http://127.0.0.1:8090/v3", "/v3"),
        ("PAYONCE_BANK_NOTIFY_URL", "ftp://host", "http:// or https://"),
        ("PAYONCE_RATE_LIMIT", "0", "or off"),
    ];
    for (variable, value, allowed) in wrong {
        let shown = format!("{variable} is \"{value}\"");
        Place::new().set(variable, value).run(&["migrate"]).refused(&["environment", &shown, allowed]);
    }
    Place::new()
        .run(&["serve", "--rate-limit", "-5"])
        .refused(&["command line", "PAYONCE_RATE_LIMIT (--rate-limit) is \"-5\""]);
    Place::new()
        .run(&["serve", "--config", "none.toml"])
        .refused(&["PAYONCE_CONFIG", "none.toml cannot be read"]);
}

#[test]
fn all_mistakes_are_told_at_once() {
    let place = Place::new()
        .set("PAYONCE_LISTEN", "x")
        .toml("rate_limit = -1\n[timing]\nlease_s = 0\nsweep_s = \"9\"");
    place.run(&["demo"]).refused(&[
        "environment: PAYONCE_LISTEN is \"x\"",
        "payonce.toml:1:14: PAYONCE_RATE_LIMIT is \"-1\"",
        "payonce.toml:3:11: timing.lease_s is \"0\"; allowed: seconds from 0.001 to 31536000",
        "payonce.toml:4:11: timing.sweep_s is a text; allowed: seconds",
    ]);
}

#[test]
fn an_unknown_key_is_refused_with_its_place_and_the_known_ones() {
    let cases = [
        ("lisen = \"x\"", "payonce.toml:1:1: lisen is not a known key", "listen, bank_listen"),
        ("config = \"x\"", "payonce.toml:1:1: config is not a known key", "listen"),
        ("\n[timing]\nlease = 3", "payonce.toml:3:1: timing.lease is not a known key", "lease_s, execute_s"),
        (
            "[[merchant]]\nsecretkey = \"canary\"",
            "payonce.toml:2:1: merchant[1].secretkey is not",
            "secret_key",
        ),
    ];
    for (text, place, allowed) in cases {
        Place::new().toml(text).run(&["migrate"]).refused(&[place, allowed]);
    }
    let provider = MERCHANT.replace("notify_secret", "notifysecret");
    Place::new()
        .toml(&provider)
        .run(&["migrate"])
        .refused(&["merchant[1].provider.notifysecret", "notify_secret"]);
}

#[test]
fn a_merchant_is_checked_field_by_field() {
    let cases = [
        ("mode = \"test\"", "mode = \"prod\"", "merchant[1].mode is \"prod\"; allowed: \"test\" or \"live\""),
        ("name = \"Zerno\"", "", "merchant[1].name is missing"),
        ("\"yookassa\"", "\"paypal\"", "merchant[1].provider.kind is \"paypal\"; allowed: \"yookassa\""),
        (
            "[\"https://shop.example\"]",
            "[\"shop.example\"]",
            "merchant[1].return_origins is \"shop.example\"",
        ),
        (
            "[\"https://shop.example\"]",
            "\"https://shop.example\"",
            "merchant[1].return_origins is a text; allowed: a list",
        ),
        ("sk_test_canary", "sk_live_canary", "merchant[1].secret_key (a secret, not shown here)"),
        ("sk_test_canary", "sk_test_demo", "a key of your own"),
        ("pk_test_zerno", "sk_test_canary", "merchant[1].publishable_key"),
    ];
    for (right, wrong, message) in cases {
        let place = Place::new().toml(&MERCHANT.replacen(right, wrong, 1));
        place.run(&["migrate"]).refused(&[message]);
    }
    let twice = MERCHANT.repeat(2);
    Place::new()
        .toml(&twice)
        .run(&["migrate"])
        .refused(&["merchant[2].id is that of an earlier merchant", "merchant[2].secret_key"]);
    assert_eq!(Place::new().toml(MERCHANT).run(&["migrate"]).code, Some(0));
}

#[test]
fn live_mode_wants_the_default_times_and_https() {
    let live = MERCHANT.replace("_test_", "_live_").replace("\"test\"", "\"live\"");
    let place = |text: &str| Place::new().toml(text).set("PAYONCE_PUBLIC_URL", "https://pay.example");
    assert_eq!(place(&live).run(&["migrate"]).code, Some(0));
    let hasty = format!("[timing]\nlease_s = 0.5\n{live}");
    place(&hasty).run(&["migrate"]).refused(&["timing.lease_s is 0.5", "30 or more"]);
    let open = live.replace("127.0.0.1:8090", "bank.example");
    place(&open).run(&["migrate"]).refused(&["merchant[1].provider.url", "https://"]);
    let open = place(&live).set("PAYONCE_PUBLIC_URL", "http://pay.example");
    open.run(&["migrate"]).refused(&["PAYONCE_PUBLIC_URL is \"http://pay.example\"", "https://"]);
    let hook = live.replace("https://shop.example/hook", "https://10.0.0.1:444/hook");
    place(&hook).run(&["migrate"]).refused(&["merchant[1].webhook.url", "public host"]);
}

#[test]
fn a_mail_server_takes_mails_from_somebody() {
    let place = || Place::new().set("PAYONCE_SMTP_URL", "smtps://user:canary@mail.example");
    place().run(&["migrate"]).refused(&["PAYONCE_MAIL_FROM", "PAYONCE_SMTP_URL"]);
    place().run(&["migrate", "--mail-from", "shop"]).refused(&["PAYONCE_MAIL_FROM", "a mail address"]);
    let ended = place().run(&["migrate", "--mail-from", "pay@shop.example"]);
    assert_eq!(ended.code, Some(0), "{}", ended.all());
    let open = Place::new().set("PAYONCE_SMTP_URL", "smtp://mail.example").run(&["migrate"]);
    open.refused(&["PAYONCE_SMTP_URL", "?tls=required"]);
}

/// Rule 52: no secret in any message, however wrong the place it was put in.
#[test]
fn no_secret_is_repeated() {
    let files = [
        "secret = \"canary\"\nsecret_old = \"canary\"\ndemo_secret_key = \"can ary canary\"".to_owned(),
        "secret = canary".to_owned(),
        "secret = \"canary".to_owned(),
        "[[merchant]]\nsecret_key = \"canary canary\"\npublishable_key = 5\nprovider = \"canary\"\nwebhook = \"canary\"".to_owned(),
        MERCHANT.replace("secret = \"canary\"", "secret = \"can ary canary\""),
        MERCHANT.replace("notify_secret = \"canary\"", "notify_secret = \"canary/canary\""),
        MERCHANT.replace("\"http://127.0.0.1:8090\"", "\"http://user:canary@bank/v3\""),
        MERCHANT.replace("\"whsec_canarycanarycanarycanarycanarycanary\" }", "\"whsec_canarycanarycanarycanarycanarycanary }"),
        format!("listen = 3\n{MERCHANT}"),
    ];
    for text in files {
        let ended = Place::new().toml(&text).run(&["serve"]);
        assert_eq!(ended.code, Some(1), "{text}");
        assert!(!ended.all().contains("canary"), "{text}\n{}", ended.all());
    }
    for variable in [
        "PAYONCE_SECRET",
        "PAYONCE_SECRET_OLD",
        "PAYONCE_DEMO_SECRET_KEY",
        "PAYONCE_DATABASE_URL",
        "PAYONCE_PUBLIC_URL",
        "PAYONCE_SMTP_URL",
    ] {
        let value = if variable.ends_with("URL") { "postgres://user:canary@host/db" } else { "canary \u{1}" };
        let ended = Place::new().set(variable, value).run(&["demo"]);
        ended.refused(&[variable]);
        assert!(!ended.all().contains("canary"), "{}", ended.all());
    }
    let doctor = Place::new().toml(MERCHANT).set("PAYONCE_SECRET", SECRET).run(&["doctor"]).all();
    assert!(!doctor.contains("canary") && !doctor.contains(SECRET), "{doctor}");
}
