# Mails to the shopper. Plain text; a line of the mail is a line here.

hello = Hello,

receipt-subject = Order { $order } is paid — { $shop }
receipt-body =
    Order { $order } at { $shop } is paid: { $amount }.
    There is no need to pay again.
receipt-once = The money was taken once.
receipt-link = How the payment stands can be seen here:

result-subject = The payment for order { $order } failed, no money was taken — { $shop }
result-declined =
    We were finding out what became of the payment for order { $order } at { $shop }, { $amount }. Now it is known: the bank
    declined it. No money was taken.
result-canceled =
    We were finding out what became of the payment for order { $order } at { $shop }, { $amount }. Now it is known: it did
    not take place. No money was taken.
result-judged-subject = Order { $order } is not paid — { $shop }
result-judged =
    We were finding out what became of the payment for order { $order } at { $shop }, { $amount }. Now it is known: the order is
    not paid. If money was taken for it, all of it was given back.
result-hold = If your bank shows the sum as held, it will release it by itself. There is nothing you have to do for that.
result-link = If you still want the order, open this page: it says whether you can pay again.

farewell = This mail was sent once, by a machine. Please ask { $shop } about the order.
