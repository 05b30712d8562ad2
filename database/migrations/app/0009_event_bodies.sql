-- What PayPal sent is kept for a while and then emptied: it names the payer. The row stays, so that an event which is told
-- again is still known (src/server/payments/forget-event-bodies.ts).
create index payment_events_bodies on public.payment_events (received_at) where raw <> '';
grant update (raw) on public.payment_events to service_role;
