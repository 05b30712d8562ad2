/** Lists, creates and ends read-only links, and shows them as rows. */
import type { ApiRow } from '#domain/database-rows.ts';
import { dateRangeLabel } from '#domain/day/date-range.ts';
import { dateLabel, dayOf } from '#domain/day/day.ts';
import type { LinkAnswer, LinkRequest } from '#domain/documents/document-links.ts';
import { titleOf } from '#domain/documents/wins-document.ts';
import { MESSAGES } from '#domain/messages.ts';
import { useData, type DataClient } from '#client/lib/api/data-client.ts';
import type { Supabase } from '#client/lib/api/supabase.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useUser } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Buttons, Hint, Row, RowName, Rows } from '#client/ui/stack.tsx';
import { useToast } from '#client/ui/toast.tsx';

export type LinkTarget = Pick<LinkRequest, 'documentId' | 'reviewId'>;
type OwnLink = ApiRow<'document_links'> & { title: string };

export const linksKey = (userId: string) => ['links', userId] as const;

/** The unexpired links, newest first, with the titles of their documents and reviews. */
export async function listLinks(data: DataClient, userId: string, signal: AbortSignal): Promise<OwnLink[]> {
  const { data: rows } = await data
    .from('document_links')
    .select('user_id, id, document_id, review_id, created_at, expires_at')
    .eq('user_id', userId)
    .gt('expires_at', new Date().toISOString())
    .order('created_at', { ascending: false })
    .abortSignal(signal)
    .throwOnError();
  const [documents, reviews] = await Promise.all([
    readByIds(rows, 'document_id', (ids) =>
      data.from('documents').select('id, title').eq('user_id', userId).in('id', ids).abortSignal(signal).throwOnError(),
    ),
    readByIds(rows, 'review_id', (ids) =>
      data
        .from('reviews')
        .select('id, period_from, period_to')
        .eq('user_id', userId)
        .in('id', ids)
        .abortSignal(signal)
        .throwOnError(),
    ),
  ]);
  const titles = new Map<string | null, string>([
    ...documents.map(({ id, title }) => [id, titleOf({ title })] as const),
    ...reviews.map(({ id, period_from: from, period_to: to }) => [id, `Review, ${dateRangeLabel(from, to)}`] as const),
  ]);
  return rows.map((row) => ({ ...row, title: titles.get(row.document_id ?? row.review_id) ?? 'Review' }));
}

async function readByIds<Link, Row>(
  links: readonly Link[],
  key: keyof Link,
  read: (ids: NonNullable<Link[keyof Link]>[]) => PromiseLike<{ data: Row[] }>,
): Promise<Row[]> {
  const ids = links.flatMap((link) => link[key] ?? []);
  return ids.length === 0 ? [] : (await read(ids)).data;
}

export async function createLink(
  { callFunction }: Supabase,
  request: LinkRequest,
): Promise<LinkAnswer | { error: string }> {
  const answer = await callFunction('create-link', request).catch(() => null);
  return answer?.success ? (answer as unknown as LinkAnswer) : { error: answer?.error ?? MESSAGES.unexpected };
}

async function endLink(data: DataClient, userId: string, id: string): Promise<void> {
  await data.from('document_links').delete().eq('user_id', userId).eq('id', id).throwOnError();
}

type LinkRowsProps = {
  links: readonly OwnLink[];
  label: string;
  /** Replaces a link by one with a new address. */
  onRenew?: (id: string) => void;
  onEnd?: (link: OwnLink) => void;
};

export function LinkRows({ links, label, onRenew, onEnd }: LinkRowsProps) {
  const data = useData();
  const { id: userId } = useUser();
  const queries = useQueryClient();
  const toast = useToast();
  const [ending, setEnding] = useState<string | null>(null);

  const end = async (link: OwnLink): Promise<void> => {
    setEnding(link.id);
    try {
      await endLink(data, userId, link.id);
      onEnd?.(link);
      toast({ kind: 'success', text: 'The link has ended.' });
    } catch {
      toast({ kind: 'error', text: "Couldn't end the link. It still works. Please try again." });
    } finally {
      await queries.invalidateQueries({ queryKey: linksKey(userId) });
      setEnding(null);
    }
  };

  return (
    <Rows aria-label={label}>
      {links.map((link) => (
        <Row key={link.id}>
          <div>
            <RowName>
              <bdi>{link.title}</bdi>
            </RowName>
            <Hint>
              Made {dateLabel(dayOf(new Date(link.created_at)))}, ends {dateLabel(dayOf(new Date(link.expires_at)))}
            </Hint>
          </div>
          <Buttons>
            {onRenew && (
              <Button tone="text" aria-label={`Renew the link to ${link.title}`} onClick={() => onRenew(link.id)}>
                Renew
              </Button>
            )}
            <Button
              aria-label={`End the link to ${link.title}`}
              busy={ending === link.id}
              busyLabel="Ending..."
              onClick={() => void end(link)}
            >
              End
            </Button>
          </Buttons>
        </Row>
      ))}
    </Rows>
  );
}
