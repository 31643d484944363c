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
    net::{TcpSocket, TcpStream},
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

/// A broken proxy says its answer once more, on the connection that it came by, to whoever asks next.
#[tokio::test]
async fn r10_what_is_said_twice_is_nobodys_answer() {
    const REFUSED: &str = r#"{"type":"error","id":"e","code":"invalid_request","description":"no"}"#;
    let (bank, (listener, account)) = (provider(), listen().await);
    let send = || bank.send(&account, outgoing("{}", &Looks::default(), true));
    let refuse = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await.unwrap();
        answer(&mut stream, 400, "", REFUSED).await;
        stream
    };
    let (first, mut stream) = join!(send(), refuse);
    assert!(matches!(first, Reply::Rejected { .. }), "{first:?}");
    let serve = async {
        select! {
            Some(_) = read_request(&mut stream) => answer(&mut stream, 400, "", REFUSED).await,
            accepted = listener.accept() => {
                let (mut own, _) = accepted.unwrap();
                read_request(&mut own).await.unwrap();
                answer(&mut own, 200, "", PAYMENT).await;
            }
        }
    };
    let (second, ()) = join!(send(), serve);
    assert!(matches!(second, Reply::Object(_)), "{second:?}");
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
    let (bank, looks, (listener, account)) = (provider(), Looks::default(), listen().await);
    let serve = async { read_request(&mut listener.accept().await.unwrap().0).await.unwrap() };
    let (reply, _) = join!(bank.send(&account, outgoing("{}", &looks, true)), serve);
    assert_eq!(reply, no_answer());
    assert_eq!(looks.count(), 1);
    never_happens(listener.accept()).await;
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
