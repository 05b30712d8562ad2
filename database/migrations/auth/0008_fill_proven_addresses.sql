-- phase: migrate
-- Accounts whose address is known to have been proven before anybody could sign in: SAML accounts; addresses that were
-- confirmed after the sign-up, because AUTH_AUTOCONFIRM confirms at the sign-up itself (an account without an identity
-- from its first moment began anonymously, where that does not hold); accounts that a provider with a verified address
-- created; and accounts for which an administrator vouched. A proof that came after an autoconfirmed sign-up is not
-- known to be older than a stranger's passkey, so such an account stays unproven, and the next proof claims it.
update auth.users as proven set email_proven_at = proven.email_confirmed_at
 where id in (
   select u.id from auth.users as u
    where u.email_proven_at is null and u.email is not null and u.email_confirmed_at is not null
      and (u.is_sso_user
        or (u.email_confirmed_at > u.created_at
          and exists (select from auth.identities as i where i.user_id = u.id and i.created_at = u.created_at))
        or exists (select from auth.identities as i
            where i.user_id = u.id and i.provider not in ('email', 'phone') and i.created_at = u.created_at
              and i.identity_data ->> 'email' = u.email and i.identity_data -> 'email_verified' = 'true')
        or exists (select from auth.audit_log as a where a.user_id = u.id and a.event = 'created_by_admin'))
    limit 1000);
