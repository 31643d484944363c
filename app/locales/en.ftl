# The payment page in English. Same names as in ru.ftl; a test compares them with the sources.

title-pay = Pay { $amount }
title-status = Payment for order { $order }
order-line = Order { $order }
amount = Amount
language-name = Русский
language-hint = Переключить на русский
promise = We charge once, even if you press twice
reload = Reload the page
return = Back to the shop
check-again = Check now
try-again = Try again
copy-link = Copy the link
copied = Link copied
reference = Payment reference
fact-order = Order
fact-card = Card
fact-time = Time
checked = Last asked at { $time }.
next-check = Asking again in { $seconds }{"\u00A0"}s.
last-look = We last asked the bank at { $time }.
next-look = We ask again at { $time }.
step-sent = Sent to the bank, waiting for its answer
step-unanswered = Sent to the bank, no answer came
step-not-executed = Could not be passed to the bank: nothing was executed
step-answered = The bank answered
step-at-bank = The bank is waiting for you to confirm
step-in-review = Handed over to a person

# The form.
form-label = Payment
field-number = Card number
field-expiry = Expiry date
field-expiry-hint = MM / YY
field-cvc = Security code
field-email = Email for the receipt
private = Card details go straight to the bank: neither the shop nor our server sees them.
pay = Pay { $amount }
pay-at-bank = Pay on the bank's page
paying = Sending…
wrongs = Check what you entered
wrong-number-missing = Enter the card number
wrong-number-length = Check how many digits it has
wrong-number-check = There is a typing error in it
wrong-number-refused = The bank does not accept this number
wrong-expiry-missing = Enter the expiry date
wrong-expiry-form = Month and year, for example 12 / 28
wrong-expiry-past = The card has expired
wrong-expiry-refused = The bank does not accept this date
wrong-cvc-missing = Enter the code
wrong-cvc-form = Three or four digits
wrong-cvc-refused = The bank does not accept this code
wrong-email-form = Check the address, for example anna@example.com

# Lines above the form.
note-unreached = Your payment did not reach us and no money was taken. Press Pay again: it will be the same payment.
note-no-token = The bank could not be reached. Nothing was sent and no money was taken. Please try again.
note-busy = Too many requests right now. Nothing was sent and no money was taken. Try again in a minute.
note-refused = The payment could not be sent. No money was taken. Reload the page and try again.
note-card-elsewhere = A card entered in another tab or on another device is used for this payment. A second one was not begun.
note-too-many-tries = There are no tries left for this order. No money was taken. Please ask the shop.
note-not-renewed = A new try could not be started: no connection. Please try again.
note-release-asked = We asked the bank to let go of this payment. As soon as it answers, you can pay another way.
note-released-by = While the bank waits for you, no other payment can begin: both might be charged. If you do not confirm, the bank lets go of this one by { $time } at the latest; then you can pay another way.
note-not-released = The bank could not be asked: no connection. Please try again.
note-terms-changed = The shop changed the order while you were paying. No money was taken. Check the new amount.

# The page itself.
load-slow = The page is still loading on a slow connection. You can fill in the fields; if you have pressed Pay, we will send it once, as soon as we can.
load-failed = The page did not load completely. Nothing was sent and no money was taken. What you typed is still here: press Pay again, or pay on the bank's page.
load-broken = The page stopped working. If you have pressed Pay, do not pay again: reload the page and it will show how the payment stands.
plain-title = The card is entered on the bank's page
plain-lead = Your browser sends the card number straight to the bank, past the shop and our server. Without scripts it cannot, so there are no card fields here. Turn scripts on and reload the page to have them.

# Screens.
unpaid-title = This order is not paid yet
unpaid-lead = No money was taken.
unpaid-link = Go to payment
checking-title = Checking whether your payment arrived
checking-lead = The connection broke and we got no answer. We are asking the server.
elsewhere-title = Payment is under way in another tab
elsewhere-lead = The same result will appear here.
changed-title = The order has changed
changed-lead = The shop changed the amount or the terms. No money was taken.
changed-now = New amount: { $amount }
changed-accept = Continue
processing-title = Your payment is being processed
processing-lead = This usually takes a few seconds.
unreached-title = The payment could not be passed to the bank yet
unreached-lead = None of our tries succeeded, so no money was taken so far. We keep trying by ourselves.
unreached-until = If it does not work by { $time }, the payment ends without money, and this page says so.
held-title = Your payment is accepted and waits
held-lead = Our server was away for a while. Before it sends a payment to the bank, it asks the bank what happened meanwhile, so that nothing is charged twice. Then it goes on by itself.
confirming-title = Confirming your payment
confirming-lead = The bank has not answered yet. It happens: the answer may have been lost on the way. We keep asking about the same payment.
review-title = A person is checking this payment
review-lead = The result could not be found out automatically; someone at the shop is looking into it. If the money was taken, it counts for this order; if not, you will be able to pay it.
do-not-pay = You do not need to pay again.
do-not-pay-why = We will not charge twice.
may-close = You can close this page: the result will be
may-close-link = under this same link
mail-promise = We will write to { $email } when we know the result.
mail-label = Email, to learn the result
mail-send = Write to me
action-title = Confirm the payment with your bank
action-lead = Your bank wants to make sure it is you. No money is taken until you confirm.
action-link = Continue to the bank
release = Pay another way
authorized-title = The money is held on your card
authorized-lead = The shop will take it when it confirms the order. There is nothing more to do.
succeeded-title = Paid
succeeded-lead = Charged once. Thank you!
declined-title = The bank declined the payment
canceled-title = Payment canceled
expired-title = The time to pay has run out
not-taken = Money was not taken.
closed = This order can no longer be paid here. If you still need it, ask the shop for a new link.
other-card = Card { $card } from another tab or device was used. Nothing was taken from the card entered here.
other-bank = This payment goes on at the bank's page, opened in another tab or on another device. Nothing was taken from the card entered here.
other-tab = This payment was begun in another tab or on another device. It is the same one here: you will not be charged twice.

# Why a bank says no.
decline-funds = There is not enough money on the card.
decline-expired = The card has expired.
decline-number = The card number is wrong.
decline-code = The security code is wrong.
decline-limit = The card's limit is exceeded.
decline-restricted = This card cannot be used for such payments.
decline-fraud = The payment looked suspicious to the bank. Call the bank or use another card.
decline-call = The bank asks you to call the number on the card.
decline-secure = The payment could not be confirmed with the bank.
decline-timeout = The confirmation did not come in time.
decline-issuer = The bank that issued the card is not available now.
decline-other = The bank gave no reason. Try another card or call the bank.

# Pages without an order.
message-not-found-title = There is no such payment
message-not-found-lead = Check the link or ask the shop for a new one.
message-unauthorized-title = The link is incomplete or out of date
message-unauthorized-lead = Open it again from the mail or the shop, all of it.
message-bad-request-title = The request could not be understood
message-bad-request-lead = Nothing was sent and no money was taken. Go back and try again.
message-too-many-title = Too many requests
message-too-many-lead = No money was taken. Wait a minute and reload the page.
message-busy-title = We cannot answer right now
message-busy-lead = If you have paid, do not pay again: reload the page in a minute and it will show how the payment stands.
