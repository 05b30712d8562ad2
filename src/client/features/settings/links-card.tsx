/** The Links card: the read-only links that still work, each with a button that ends it. */
import { useQuery } from '@tanstack/react-query';
import { useData } from '#client/lib/api/data-client.ts';
import { useUser } from '#client/lib/session/session.ts';
import { LoadingText } from '#client/ui/loading-text.tsx';
import { FoldedSection } from '#client/ui/page/folded-section.tsx';
import { LinkRows } from '#client/ui/share/link-rows.tsx';
import { linksKey, listLinks } from '#client/ui/share/links.ts';
import { LoadError, Quiet, Stack } from '#client/ui/stack.tsx';
import { pluralize } from './settings-parts.tsx';

export function LinksCard() {
  const data = useData();
  const { id: userId } = useUser();
  const links = useQuery({
    queryKey: linksKey(userId),
    queryFn: ({ signal }) => listLinks(data, userId, signal),
    staleTime: 0,
    networkMode: 'always',
  });
  return (
    <FoldedSection
      title="Links"
      summary={links.data && (links.data.length === 0 ? 'None' : pluralize(links.data.length, 'link'))}
    >
      <Stack>
        {links.data ? (
          links.data.length === 0 ? (
            <Quiet>No links. Documents and reviews can be shown by one; views are not counted.</Quiet>
          ) : (
            <>
              <Quiet>Whoever has a link sees what it shows, until it ends. Views are not counted.</Quiet>
              <LinkRows links={links.data} label="Links" />
            </>
          )
        ) : links.isError ? (
          <LoadError request={links}>Couldn't load your links.</LoadError>
        ) : (
          <LoadingText />
        )}
      </Stack>
    </FoldedSection>
  );
}
