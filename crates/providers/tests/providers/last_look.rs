//! The last look: taken once a connection is there and before the first byte leaves, and what does not leave is known not to have.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use payment::{NotExecutedReason, UnknownReason};
use providers::{Provider, Reply};
use tokio::{
    io::AsyncWriteExt,
    join,
    net::{TcpListener, TcpSocket, TcpStream},
    select,
    time::timeout,
};

use crate::loopback::{Looks, PAYMENT, account, answer, guarded, listen, outgoing, provider, read_request};

/// Long enough for loopback to do what it does at once.
const A_MOMENT: Duration = Duration::from_millis(150);

fn not_executed(reason: NotExecutedReason) -> Reply {
    Reply::NotExecuted { reason, retry_after_ms: None }
}

fn no_answer() -> Reply {
    Reply::Unknown { reason: UnknownReason::NoAnswer, turned_away: None, retry_after_ms: None }
}

async fn never_happens(what: impl Future) {
    assert!(timeout(A_MOMENT, what).await.is_err());
}

/// One exchange that leaves a connection in the pool.
async fn warmed(bank: &impl Provider, listener: &TcpListener) -> TcpStream {
    let serve = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await.unwrap();
        answer(&mut stream, 200, "", PAYMENT).await;
        stream
    };
    let account = account(listener);
    let (reply, stream) = join!(bank.send(&account, outgoing("{}", &Looks::default(), true)), serve);
    assert!(matches!(reply, Reply::Object(_)), "{reply:?}");
    stream
}

#[tokio::test]
async fn r14_what_may_not_leave_reaches_the_bank_as_a_connection_without_a_byte() {
    for size in [2, 64 << 10] {
        let (bank, looks, (listener, account)) = (provider(), Looks::default(), listen().await);
        let accept = async { read_request(&mut listener.accept().await.unwrap().0).await };
        let (reply, arrived) = join!(bank.send(&account, outgoing(vec![b'x'; size], &looks, false)), accept);
        assert_eq!(reply, not_executed(NotExecutedReason::TooLate));
        assert!(arrived.is_none(), "{arrived:?}");
        assert_eq!(looks.count(), 1);
        never_happens(listener.accept()).await;
    }
}

#[tokio::test]
async fn r14_what_may_not_leave_does_not_leave_by_a_kept_connection_either() {
    let (bank, looks, (listener, account)) = (provider(), Looks::default(), listen().await);
    let mut stream = warmed(&bank, &listener).await;
    let (reply, arrived) =
        join!(bank.send(&account, outgoing("{}", &looks, false)), read_request(&mut stream));
    assert_eq!(reply, not_executed(NotExecutedReason::TooLate));
    assert!(arrived.is_none(), "{arrived:?}");
    assert_eq!(looks.count(), 1);
    never_happens(listener.accept()).await;
}

#[tokio::test]
async fn r15_what_may_leave_arrives_byte_for_byte_in_one_piece() {
    for size in [2, 1000, 64 << 10, 1 << 20] {
        let (bank, looks, (listener, account)) = (provider(), Looks::default(), listen().await);
        let bytes: Vec<u8> = (0..size).map(|i: usize| (i % 251) as u8).collect();
        let serve = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let arrived = read_request(&mut stream).await.unwrap();
            answer(&mut stream, 200, "", PAYMENT).await;
            arrived
        };
        let (reply, arrived) = join!(bank.send(&account, outgoing(bytes.clone(), &looks, true)), serve);
        assert!(matches!(reply, Reply::Object(_)), "{reply:?}");
        assert!(arrived.body == bytes, "{size} bytes arrived changed");
        assert_eq!(arrived.header("content-length"), Some(size.to_string().as_str()));
        assert_eq!(arrived.header("transfer-encoding"), None);
        assert_eq!(looks.count(), 1);
    }
}

/// A full backlog: the kernel drops what knocks until someone accepts.
#[tokio::test]
async fn r14_the_look_is_taken_when_the_connection_is_there_and_not_before() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let there = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    while let Ok(stream) = timeout(A_MOMENT, TcpStream::connect(there)).await {
        waiting.push(stream.unwrap());
    }

    let open = Arc::new(AtomicBool::new(false));
    let (bank, account, seen) = (provider(), account(&listener), open.clone());
    let request = guarded("{}", move || {
        assert!(seen.load(Ordering::SeqCst), "looked before there was a connection");
        true
    });
    let mut sending = Box::pin(bank.send(&account, request));
    never_happens(&mut sending).await;

    open.store(true, Ordering::SeqCst);
    drop(waiting);
    let serve = async {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            // Those that filled the backlog end without a word.
            if read_request(&mut stream).await.is_some() {
                return answer(&mut stream, 200, "", PAYMENT).await;
            }
        }
    };
    let (reply, _) = join!(sending, timeout(Duration::from_secs(10), serve));
    assert!(matches!(reply, Reply::Object(_)), "{reply:?}");
}

#[tokio::test]
async fn r14_where_nobody_listens_nobody_looks() {
    let (bank, looks, (listener, account)) = (provider(), Looks::default(), listen().await);
    drop(listener);
    let reply = bank.send(&account, outgoing("{}", &looks, true)).await;
    assert_eq!(reply, not_executed(NotExecutedReason::NotSent));
    assert_eq!(looks.count(), 0);
}

#[tokio::test]
async fn r10_what_left_and_was_not_answered_is_unknown_and_not_sent_again() {
    for kept in [false, true] {
        let (bank, looks, (listener, account)) = (provider(), Looks::default(), listen().await);
        let stream = if kept { Some(warmed(&bank, &listener).await) } else { None };
        let serve = async {
            let mut stream = match stream {
                Some(stream) => stream,
                None => listener.accept().await.unwrap().0,
            };
            read_request(&mut stream).await.unwrap();
        };
        let (reply, ()) = join!(bank.send(&account, outgoing("{}", &looks, true)), serve);
        assert_eq!(reply, no_answer(), "kept: {kept}");
        assert_eq!(looks.count(), 1);
        never_happens(listener.accept()).await;
    }
}

#[tokio::test]
async fn r10_half_an_answer_is_unknown() {
    let (bank, looks, (listener, account)) = (provider(), Looks::default(), listen().await);
    let serve = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 X\r\ncontent-length: 90\r\n\r\n{\"id\":").await.unwrap();
    };
    let (reply, ()) = join!(bank.send(&account, outgoing("{}", &looks, true)), serve);
    assert_eq!(reply, no_answer());
}

/// The bank closed the kept connection. Whether the client notices in time or not: nothing that may not leave arrives, and what may
/// leave arrives at most once, after one look.
#[tokio::test]
async fn r14_a_stale_connection_lets_nothing_out_unlooked_at_and_nothing_twice() {
    for allowed in [true, false] {
        for resets in [true, false] {
            for _ in 0..50 {
                stale(allowed, resets, false).await;
            }
            stale(allowed, resets, true).await;
        }
    }
}

async fn stale(allowed: bool, resets: bool, noticed: bool) {
    let (bank, looks, (listener, account)) = (provider(), Looks::default(), listen().await);
    let stream = warmed(&bank, &listener).await;
    if resets {
        stream.set_zero_linger().unwrap();
    }
    drop(stream);
    if noticed {
        never_happens(listener.accept()).await;
    }
    let mut arrived = 0;
    let serve = async {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            if read_request(&mut stream).await.is_some() {
                arrived += 1;
                answer(&mut stream, 200, "", PAYMENT).await;
            }
        }
    };
    let request = outgoing("{}", &looks, allowed);
    let reply = select! {
        reply = bank.send(&account, request) => reply,
        () = serve => unreachable!(),
    };
    assert_eq!(looks.count(), 1, "{reply:?}");
    match reply {
        Reply::Object(_) => assert_eq!((allowed, arrived), (true, 1)),
        // It left before the end of the connection was seen.
        Reply::Unknown { .. } => assert_eq!((allowed, arrived, noticed), (true, 0, false)),
        refused @ (Reply::NotExecuted { .. } | Reply::Rejected { .. }) => {
            assert_eq!(refused, not_executed(NotExecutedReason::TooLate));
            assert_eq!((allowed, arrived), (false, 0));
        }
    }
}
