# The shop's words. ru.ftl has the same names.

shop-name = Zerno
skip-to-content = Skip to content
language-label = Language
language-name = English
demo-note = A demo shop: neither the money nor the goods are real
footer-about = Zerno is a client of the public Payonce API like any other shop: it stores the order, its key and the request before it calls the API.
footer-shipping = An order ships once, and only when a signed webhook says that it is paid: opening its page is not enough.

catalogue-title = Coffee, and what it takes to brew it
hero-title = Roasted yesterday, brewed tomorrow
hero-text = Beans in small batches, and the plain good things that turn them into coffee.
shelf-title = On the shelves
quantity-label = Quantity
pieces =
    { $quantity ->
        [one] { $quantity } pc
       *[other] { $quantity } pcs
    }
buy = Buy

bravo = Bravo grinder
    .about = By hand, steel burrs, 38 grind settings
guji = Ethiopia Guji
    .about = Filter roast, 250 g: jasmine, peach, bergamot
cerrado = Brazil Cerrado
    .about = Espresso roast, 1 kg: hazelnut, cocoa, caramel
dripper = Cone 02 dripper
    .about = Ceramic, one to four cups
filters = Paper filters
    .about = Unbleached, for the Cone 02, 100 sheets
kettle = Crane kettle
    .about = Gooseneck, thermometer in the lid, 900 ml

order-description =
    { $quantity ->
        [1] { $good }
       *[other] { $good } × { $quantity }
    }
order-label = Order
goods-label = Item
sum-label = Total
delivery-label = Delivery
not-shipped = waiting for the payment's confirmation
shipped-on = shipped on

not-offered-title = Payment is not open yet
not-offered-text = The order is saved, but its payment page did not open. Nothing was charged.
waiting-title = Waiting for payment
waiting-text = Your order is placed and waits to be paid. Nothing has been charged yet.
failed-title = The payment did not go through
failed-text = The last try failed, and the order is not paid. You can try another card or another way to pay.
bank-title = Confirm the payment at your bank
bank-text = The bank is waiting for your confirmation. There is no need to start another payment.
settling-title = We are confirming your payment
settling-text = You do not need to pay again. This page updates itself; you can close it and come back later.
held-title = The money is reserved
held-text = The bank has approved the payment and the charge will follow. You do not need to pay again.
review-title = A person is looking into your payment
review-text = The bank gave no clear answer, so we are sorting it out ourselves. You do not need to pay again.
paid-title = Paid
paid-text = Thank you for your purchase! The money has arrived.
canceled-title = The order is canceled
canceled-text = It can no longer be paid. If you still want it, place a new order.
expired-title = The time to pay has run out
expired-text = The order was not paid. If you still want it, place a new order.
unknown-title = We could not find out whether the order is paid
unknown-text = The payment service is not answering right now. That says nothing about your payment: if you have paid, do not pay again, check a little later.

pay = Pay
pay-another-way = Try again
continue-at-the-bank = Continue at the bank
continue-to-payment = Go to payment
check-again = Check now
watch-payment = Payment progress
back-to-shelves = Back to the shop
try-again = Try again

no-answer-title = The payment service did not answer
no-answer-text = Your order is saved, but its payment page did not open.
busy-title = Too many requests
busy-text = The payment service asks to wait a little. Your order is saved.
busy-text-seconds =
    { $seconds ->
        [one] The payment service asks to wait { $seconds } second. Your order is saved.
       *[other] The payment service asks to wait { $seconds } seconds. Your order is saved.
    }
api-failed-title = The payment service failed
api-failed-text = It received the request and answered with an error. Your order is saved.
garbled-title = The payment service's answer makes no sense
garbled-text = It does not look like the payment page of this order, so we did not send you there. Your order is saved.
key-refused-title = The shop cannot take payments now
key-refused-text = The payment service does not recognise the shop's key. That is our mistake, and we can see it. Your order is saved.
refused-title = The payment service refused the order
refused-text = It understood the request and said no. Repeating will not help: go back to the shop and order anew.
paid-already-title = This order is paid already
paid-already-text = You sent the form of an order that you have paid for. To buy the same again, place a new order.
nothing-charged = This request charged nothing.
nothing-charged-try-again = This request charged nothing. You can safely try again: it will be the same order with the same key, never a second one.
opened-before = But the payment page of this order was opened before: if you paid there, do not pay again, look at the order first.
look-at-the-order = Look at the order
not-charged-again = Nothing was charged a second time.
request-label = Request number for support:

no-page-title = There is no such page
no-page-text = Perhaps the address has a typo.
no-order-title = There is no such order here
no-order-text = Perhaps the address has a typo. If you have paid, your payment is not lost: the payment service keeps it, and the payment page shows how it stands.
bad-form-title = The form could not be read
bad-form-text = No order was made and nothing was charged. Go back to the shop and try again.
shop-failed-title = The shop is not answering now
shop-failed-text = It cannot read its own records. This request charged nothing. If you have paid, do not pay again, come back a little later.

# The drawer "what could go wrong".
drawer-title = What could go wrong
drawer-text-shelves = Choose what will happen to the payment of your next purchase. Then see on the order's page how often money was taken.
drawer-text-order = It will happen to the next payment of this order.
refresh = Refresh
attempts-label = Attempts
operations-label = Operations
charges-label = Charges
mails-label = Mails
shipments-label = Shipments
armed = Waiting at the bank:
armed-nothing = The bank is up to nothing bad.
armed-unknown = The bank is not answering now.
fault-choose-title = Choose a fault
fault-choose = Let it happen
fault-chosen = With the next purchase:
fault-forget = Never mind
fault-not-set-title = The bank did not take the fault
fault-not-set-text = It did not answer, or it cannot fail like that. Your order is saved and nothing was charged: on its page you can choose another fault, or pay without one.
fault-answer-lost-twice = Answer lost twice
    .about = The bank took the money, but two of its answers in a row got lost, and its notification with them. The third attempt learns the truth.
fault-answer-lost = Answer lost
    .about = The bank took the money, but we never heard of it.
fault-request-lost = Request lost
    .about = The request did not reach the bank, but from here nobody can tell.
fault-error-after = Error 500 after the charge
    .about = The bank took the money and answered that it is broken.
fault-error-before = Error 500 before the charge
    .about = The bank broke before it took the money. It looks just the same.
fault-error-for-ever = Error 500 for ever
    .about = The bank took the money and answers every repeat with the same error. Only asking about the payment itself helps.
fault-slow = Slow bank
    .about = The answer takes 12 seconds, longer than a shopper is willing to wait.
fault-undecided = The bank is thinking
    .about = The payment is made, but decided only 15 seconds later.
fault-come-later = “Ask later”
    .about = The bank answers 202: the request is accepted, come back for the result.
fault-key-refused = The bank does not know the shop
    .about = Answer 401: nothing was done, and the card has no part in it.
fault-too-many = Too many requests
    .about = Answer 429: the bank asks to wait.
fault-half-answer = Half an answer
    .about = The bank took the money, and its answer broke off in the middle.
fault-wrong-sum = Wrong sum
    .about = The bank's answer names another sum. Such an answer must not be believed.
fault-notified-twice = Notified twice
    .about = The bank reports the payment two times.
fault-notified-late = Notified late
    .about = The bank reports the payment 15 seconds late.
fault-notified-first = Notified before the answer
    .about = The payment is reported while the request is still under way.
fault-never-notified = Never notified
    .about = The bank does not report the payment at all.

# Mail.
mailbox-title = Mailbox
mailbox-text = The mails that a real shop would send. Here they are files.
mailbox-empty = No mails yet.
mail-unwritten = A mail that is being written
mail-from = From
mail-to = To
mail-time = When
