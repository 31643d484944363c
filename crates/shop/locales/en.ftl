# The shop's words. ru.ftl has the same names.

shop-name = Zerno
skip-to-content = Skip to content
language-label = Language
language-name = English
demo-note = A demo shop: neither the money nor the goods are real
footer-about = Zerno is a client of the public Payonce API like any other shop: it stores the order, its key and the request before it calls the API.
footer-memory = Orders live in the shop's memory until it restarts. Payments live in Payonce and are never lost.

catalogue-title = Coffee, and what it takes to brew it
hero-title = Roasted yesterday, brewed tomorrow
hero-text = Beans in small batches, and the plain good things that turn them into coffee.
shelf-title = On the shelves
quantity-label = Quantity
pieces = pcs
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

not-offered-title = Payment is not open yet
not-offered-text = The order is saved, but its payment page did not open. Nothing was charged.
waiting-title = Waiting for payment
waiting-text = Your order is placed and waits to be paid. Nothing has been charged yet.
failed-title = The payment did not go through
failed-text = The last try failed and nothing was charged. You can try another card or another way to pay.
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
expired-text = The order was not paid and nothing was charged. If you still want it, place a new order.
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
no-order-text = The address has a typo, or the shop was restarted: it is a demo and keeps its orders in memory. If you have paid, your payment is not lost: the payment service keeps it, and the payment page shows how it stands.
bad-form-title = The form could not be read
bad-form-text = No order was made and nothing was charged. Go back to the shop and try again.
