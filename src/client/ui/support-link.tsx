/** Links to the support address, if the operator has configured one. */
import { mentionsSupport, supportHref } from '#domain/account/support.ts';
import { useClientConfig } from '#client/lib/api/supabase.ts';

export const useSupportAddress = (): string | undefined => useClientConfig().contact.supportEmail;

/** Renders nothing without a configured address. `about` becomes the subject of the mail. */
export function SupportLink({ about }: { about: string }) {
  const address = useSupportAddress();
  return address === undefined ? null : <a href={supportHref(address, about)}>{address}</a>;
}

/** A message. If it says to contact support, the address follows it. */
export function TextWithSupportLink({ text, about }: { text: string; about: string }) {
  if (!mentionsSupport(text)) return text;
  return (
    <>
      {text} <SupportLink about={about} />
    </>
  );
}
