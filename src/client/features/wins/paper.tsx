/** The document as it is printed, on A4 or Letter. On the screen it is hidden. */
import {
  authorOf,
  lineDate,
  periodLabel,
  sectionsOf,
  titleOf,
  type WinsDocument,
} from '#domain/documents/wins-document.ts';
import styles from './paper.module.css';

export function Paper({ document }: { document: WinsDocument }) {
  const { from, to } = document;
  const author = authorOf(document);
  return (
    <article className={styles.paper}>
      <header className={styles.head}>
        {/* The page has a heading of its own, which is not printed. */}
        <p className={styles.title} dir="auto">
          {titleOf(document)}
        </p>
        <p className={styles.facts}>
          {author !== '' && <bdi>{author}</bdi>}
          <span>{periodLabel(from, to)}</span>
        </p>
      </header>
      {sectionsOf(document).map(({ heading, wins }, index) => (
        <section key={index} className={styles.section}>
          {heading !== null && (
            <p className={styles.heading} dir="auto">
              {heading}
            </p>
          )}
          <ul className={styles.wins}>
            {wins.map((win) => (
              <li key={win.id}>
                <span dir="auto">{win.text}</span>
                <time dateTime={win.date}>{lineDate(win.date, document)}</time>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </article>
  );
}
