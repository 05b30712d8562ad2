/** The address of support, where the operator has set one. */
import { mentionsSupport, supportHref } from '#domain/account/support.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';

export const useSupportAddress = (): string | undefined => useClientConfig().contact.supportEmail;

/** Nothing where no address is set. `about` becomes the subject of the mail. */
export function SupportLink({ about }: { about: string }) {
  const address = useSupportAddress();
  return address === undefined ? null : <a href={supportHref(address, about)}>{address}</a>;
}

/** A message, and the address behind one that says to contact support. */
export function TextWithSupportLink({ text, about }: { text: string; about: string }) {
  if (!mentionsSupport(text)) return text;
  return (
    <>
      {text} <SupportLink about={about} />
    </>
  );
}
