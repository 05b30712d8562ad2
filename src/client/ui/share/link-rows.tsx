/** A list of read-only links, each with what it shows, when it ends, and a button that ends it at once. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { dateLabel, dayOf } from '#domain/day/day.ts';
import { useData } from '#client/lib/api/data-client.ts';
import { useUser } from '#client/lib/session/session.ts';
import { Button } from '#client/ui/button.tsx';
import { Buttons, Hint, Row, RowName, Rows } from '#client/ui/stack.tsx';
import { useToast } from '#client/ui/toast.tsx';
import { endLink, linksKey, type OwnLink } from './links.ts';

type LinkRowsProps = {
  links: readonly OwnLink[];
  label: string;
  /** Makes a new address in place of a link. */
  onRenew?: (id: string) => void;
};

export function LinkRows({ links, label, onRenew }: LinkRowsProps) {
  const data = useData();
  const { id: userId } = useUser();
  const queries = useQueryClient();
  const toast = useToast();
  const [ending, setEnding] = useState<string | null>(null);

  const end = async ({ id }: OwnLink): Promise<void> => {
    setEnding(id);
    try {
      await endLink(data, userId, id);
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
