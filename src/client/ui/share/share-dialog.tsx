/** Makes a read-only link to a document or a review, and lists its existing links (docs/specification/wins.md 2). */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type Ref } from 'react';
import { LINK_DAYS, type LinkAnswer, type LinkDays } from '#domain/documents/document-links.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { useSupabase } from '#client/lib/api/supabase.ts';
import { useFocusRestore } from '#client/lib/hooks/use-focus-restore.ts';
import { useUser } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Dialog } from '#client/ui/dialog.tsx';
import { Choices } from '#client/ui/form/choices.tsx';
import { Notice } from '#client/ui/notice.tsx';
import { Buttons, Hint, Quiet, Stack } from '#client/ui/stack.tsx';
import { createLink, linksKey, listLinks, LinkRows, type LinkTarget } from './links.tsx';
import styles from './share.module.css';

export function ShareDialog({ target, onClose }: { target: LinkTarget; onClose: () => void }) {
  const supabase = useSupabase();
  const data = useData();
  const { id: userId } = useUser();
  const queries = useQueryClient();
  const [days, setDays] = useState<LinkDays>(30);
  const [state, setState] = useState<{ busy: boolean; problem: string | null }>({ busy: false, problem: null });
  const [made, setMade] = useState<LinkAnswer | null>(null);
  const { fallbackRef, areaProps } = useFocusRestore();
  const links = useQuery({
    queryKey: linksKey(userId),
    queryFn: ({ signal }) => listLinks(data, userId, signal),
    staleTime: 0,
    networkMode: 'always',
  });
  const ofTarget = links.data?.filter(
    ({ document_id: documentId, review_id: reviewId }) =>
      documentId === (target.documentId ?? null) && reviewId === (target.reviewId ?? null),
  );

  const create = async (replaces?: string): Promise<void> => {
    if (state.busy) return;
    setState({ busy: true, problem: null });
    const answer = await createLink(supabase, { ...target, days, ...(replaces !== undefined && { replaces }) });
    setState({ busy: false, problem: 'error' in answer ? answer.error : null });
    if ('url' in answer) setMade(answer);
    await queries.invalidateQueries({ queryKey: linksKey(userId) });
  };

  return (
    <Dialog title="Read-only link" onClose={onClose}>
      <Stack stretch {...areaProps}>
        <Quiet>
          Anyone with the link can read this{' '}
          {target.documentId === undefined ? 'review' : 'document, with the name that stands on it,'} as it is at that
          moment, and nothing else of yours.
        </Quiet>
        {made === null ? (
          <>
            <Choices
              legend="Ends after"
              isLegendShown
              name="linkDays"
              choices={LINK_DAYS.map((value) => ({ value: String(value), label: `${value} days` }))}
              chosen={String(days)}
              onChoose={(value) => setDays(LINK_DAYS.find((each) => String(each) === value)!)}
            />
            <Buttons>
              <Button
                ref={fallbackRef}
                tone="primary"
                busy={state.busy}
                busyLabel="Making..."
                onClick={() => void create()}
              >
                Make a link
              </Button>
            </Buttons>
          </>
        ) : (
          <NewAddress key={made.url} url={made.url} copyRef={fallbackRef} />
        )}
        {state.problem !== null && <Notice kind="error">{state.problem}</Notice>}
        {ofTarget && ofTarget.length > 0 && (
          <LinkRows
            links={ofTarget}
            label="Links that work"
            onRenew={(id) => void create(id)}
            onEnd={({ id }) => id === made?.id && setMade(null)}
          />
        )}
      </Stack>
    </Dialog>
  );
}

/** The address of a new link. The server cannot show it again: it stores only a hash. */
function NewAddress({ url, copyRef }: { url: string; copyRef: Ref<HTMLButtonElement> }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const [isCopied, setIsCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(url);
      setIsCopied(true);
    } catch {
      field.current?.select();
    }
  };
  return (
    <Stack gap="s2" stretch>
      <label className={styles.addressLabel} htmlFor="link-address">
        The link
      </label>
      <input
        ref={field}
        id="link-address"
        className={styles.address}
        readOnly
        value={url}
        onFocus={({ currentTarget }) => currentTarget.select()}
      />
      <Buttons>
        <Button ref={copyRef} tone="primary" onClick={() => void copy()}>
          {isCopied ? 'Copied' : 'Copy link'}
        </Button>
      </Buttons>
      <Hint role="status">Copy it now: it is not shown again. You can end it at any time, here or in Settings.</Hint>
    </Stack>
  );
}
