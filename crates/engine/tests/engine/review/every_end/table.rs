//! What ends each item, as it stands before a person.

use super::{Kind, Shown, Status};
use crate::bank::Lie;

/// The table.
pub(super) fn expected(kind: Kind, shown: Shown) -> &'static str {
    use Kind::{
        Cancel, Capture, Forgotten, PendingRefund, Refund, Stranger, Unanswered, Waiting, WaitingStranger,
    };
    use Shown::{
        Ended, Forbidden, GivenBack, GivenBackInPart, Gone, Held, Nothing401, Nothing404, Nothing500, Other,
        Pending, Succeeded,
    };
    match (kind, shown) {
        (Unanswered | Waiting | Forgotten, shown) => match shown {
            Held | Succeeded | Ended | GivenBackInPart | Other(Lie::Order, _) => "itself",
            GivenBack => "charged, not charged",
            // What bears another name is found by nobody's question; a sweep puts it before a person.
            Other(Lie::Owner | Lie::Another, _) | Gone | Forbidden if kind == Unanswered => "itself",
            Other(_, Status::Succeeded) => "charged",
            Other(_, Status::Ended) => "not charged",
            Pending | Other(_, Status::Held) => "waits",
            Gone | Forbidden | Nothing404 | Nothing500 => "not charged+",
            Nothing401 => "charged+, not charged+",
        },
        (Refund | PendingRefund, shown) => match shown {
            Succeeded
            | Ended
            | GivenBack
            | GivenBackInPart
            | Other(Lie::Order, Status::Succeeded | Status::Ended) => "itself",
            Pending | Held | Other(Lie::Order | Lie::Amount, Status::Held) => "waits",
            Other(Lie::Amount, Status::Succeeded) => "executed+",
            Other(Lie::Amount, Status::Ended) => "not executed",
            // One that is known by its id, and names nobody, is this one.
            Other(Lie::Owner, Status::Succeeded | Status::Ended) if kind == PendingRefund => "itself",
            Other(Lie::Owner | Lie::Another, Status::Held) if kind == PendingRefund => "waits",
            Other(Lie::Another, Status::Succeeded) if kind == PendingRefund => "executed+",
            Other(Lie::Owner, Status::Succeeded) => "executed, not executed+",
            Other(Lie::Owner | Lie::Another, Status::Ended) => "not executed",
            Gone if kind == Refund => "not executed",
            // It is the payment that is forbidden.
            Forbidden if kind == Refund => "itself",
            Forbidden => "waits",
            Other(Lie::Owner | Lie::Another | Lie::Currency | Lie::NoOrder, _)
            | Gone
            | Nothing404
            | Nothing500 => "not executed+",
            Nothing401 => "executed+, not executed+",
        },
        (Capture | Cancel, shown) => match shown {
            Held | Succeeded | Ended | GivenBack | GivenBackInPart | Other(..) => "itself",
            Pending => "not executed",
            Gone | Forbidden | Nothing404 | Nothing500 => "not executed+",
            Nothing401 => "executed+, not executed+",
        },
        (Stranger, shown) => match shown {
            Succeeded | GivenBackInPart => "charged, not charged",
            Other(Lie::Amount, _) => "not charged",
            Other(_, Status::Succeeded) => "charged, not charged",
            GivenBack => "charged+, not charged",
            Nothing401 => "charged+, not charged",
            Pending | Held | Ended | Other(..) | Gone | Forbidden | Nothing404 | Nothing500 => "not charged",
        },
        (WaitingStranger, shown) => match shown {
            Ended | Other(_, Status::Ended) => "itself",
            Pending | Held | Other(_, Status::Held) => "waits",
            Other(Lie::Amount, Status::Succeeded) => "not charged",
            Succeeded | GivenBackInPart | Other(_, Status::Succeeded) => "charged, not charged",
            GivenBack => "charged+, not charged",
            Gone | Forbidden | Nothing404 | Nothing500 => "not charged+",
            Nothing401 => "charged+, not charged+",
        },
    }
}
