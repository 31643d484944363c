//! `/pkg`: named by their content, for ever the same, brotli where it is accepted.

use crate::support::World;

/// The style sheet that the page names, if this build carries the browser's files.
async fn sheet(world: &World) -> Option<String> {
    let checkout = world.checkout("sheet").await;
    let html = world.get(&world.page(&checkout)).send().await.expect(200).text();
    let at = html.find("href=\"/pkg/")? + "href=\"".len();
    Some(html[at..at + html[at..].find('"')?].to_owned())
}

#[tokio::test]
async fn a_file_is_immutable_and_brotli_where_accepted() {
    let world = World::start().await;
    let Some(path) = sheet(&world).await else { return };
    let plain = world.get(&path).send().await.expect(200);
    assert_eq!(plain.header("Content-Encoding"), None);
    assert_eq!(plain.header("Content-Type"), Some("text/css; charset=utf-8"));
    for accepted in ["br", "gzip, br", "gzip;q=1.0, br;q=0.9", "BR"] {
        let small = world.get(&path).header("Accept-Encoding", accepted).send().await.expect(200);
        assert_eq!(small.header("Content-Encoding"), Some("br"), "{accepted}");
        assert!(small.bytes.len() < plain.bytes.len());
    }
    for refused in ["gzip", "identity", "br;q=0", "gzip, br; q=0.0", "brotli", ""] {
        let reply = world.get(&path).header("Accept-Encoding", refused).send().await.expect(200);
        assert_eq!((reply.header("Content-Encoding"), &reply.bytes), (None, &plain.bytes), "{refused}");
    }
    for reply in [plain, world.get(&path).header("Accept-Encoding", "br").send().await] {
        assert_eq!(reply.header("Cache-Control"), Some("public, max-age=31536000, immutable"));
        assert!(reply.header("Vary").unwrap().eq_ignore_ascii_case("accept-encoding"));
        assert_eq!(reply.header("X-Content-Type-Options"), Some("nosniff"));
    }
}

#[tokio::test]
async fn a_page_and_its_style_come_to_little() {
    let world = World::start().await;
    let Some(path) = sheet(&world).await else { return };
    let style = world.get(&path).header("Accept-Encoding", "br").send().await.expect(200);
    assert!(style.bytes.len() < 10 << 10, "{} bytes", style.bytes.len());
}

#[tokio::test]
async fn what_is_not_there_is_404_and_not_kept() {
    let world = World::start().await;
    for path in ["/pkg/nothing.js", "/pkg/manifest.json", "/pkg/%ff", "/pkg/a/b"] {
        let reply = world.get(path).send().await.expect(404);
        assert_ne!(reply.header("Cache-Control"), Some("public, max-age=31536000, immutable"), "{path}");
    }
    let Some(path) = sheet(&world).await else { return };
    world.get(&format!("{path}.br")).send().await.expect(404);
}
