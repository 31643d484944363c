//! Runs histories.
#[expect(clippy::disallowed_methods, reason = "how long it takes is told, and decides nothing")]
fn main() {
    use sim::{
        choices::Choices,
        world::{Size, World},
    };
    let mut args = std::env::args().skip(1);
    if std::env::var("EXPLORE").is_ok() {
        let which: usize = args.next().and_then(|a| a.parse().ok()).unwrap_or(0);
        let max: u64 = args.next().and_then(|a| a.parse().ok()).unwrap_or(1_000_000);
        if max == 0 {
            let bounds = &sim::explore::BOUNDS[which];
            let (ended, world) = sim::explore::replay(bounds, args.map(|a| a.parse().unwrap()).collect());
            for line in world.story.lines() {
                println!("{line}");
            }
            println!("{ended:?}");
            return;
        }
        let began = std::time::Instant::now();
        let bounds = &sim::explore::BOUNDS[which];
        let found = sim::explore::explore(bounds, 2, max);
        println!("{found:?} {:?}", began.elapsed());
        if let Some((_, decisions)) = found.broken {
            let (_, world) = sim::explore::replay(bounds, decisions);
            for line in world.story.lines() {
                println!("{line}");
            }
        }
        return;
    }
    let from: u64 = args.next().and_then(|a| a.parse().ok()).unwrap_or(0);
    let count: u64 = args.next().and_then(|a| a.parse().ok()).unwrap_or(1000);
    let tells = count == 1;
    let began = std::time::Instant::now();
    let mut steps = 0;
    let mut broken = 0;
    for seed in from..from + count {
        let mut choices = Choices::from_seed(seed);
        let size = if std::env::var("SMALL").is_ok() {
            Size::small(&mut choices)
        } else {
            Size::drawn(&mut choices)
        };
        let (ended, world) = World::in_memory(size, choices, tells).run();
        steps += ended.steps;
        if tells {
            for line in world.story.lines() {
                println!("{line}");
            }
        }
        if let Some(b) = ended.broken {
            broken += 1;
            if broken < 20 {
                println!("{seed}: {b}");
            }
        }
    }
    let s = began.elapsed().as_secs_f64();
    println!("{count} histories, {steps} steps, {broken} broken, {s:.2} s, {:.0}/s", count as f64 / s);
}
