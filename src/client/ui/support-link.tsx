import { mentionsSupport, supportHref } from '#domain/account/support.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';

export const useSupportAddress = (): string | undefined => useClientConfig().contact.supportEmail;

/** Renders nothing without a configured address. `about` becomes part of the mail's subject. */
export function SupportLink({ about }: { about: string }) {
  const address = useSupportAddress();
  return address === undefined ? null : <a href={supportHref(address, about)}>{address}</a>;
}

/** Appends the support address to a message that says to contact support. */
export function TextWithSupportLink({ text, about }: { text: string; about: string }) {
  if (!mentionsSupport(text)) return text;
  return (
    <>
      {text} <SupportLink about={about} />
    </>
  );
}
