import { renderToStaticMarkup } from 'react-dom/server';
import { afterEach, expect, test, vi } from 'vitest';
import { LoadingText } from './loading-text.tsx';
import styles from './loading-text.module.css';

afterEach(() => vi.unstubAllGlobals());

const WORDS = 'Waiting for a connection to the server.';
const render = (onLine: boolean): string => {
  vi.stubGlobal('navigator', { onLine });
  return renderToStaticMarkup(<LoadingText text="Loading Journal..." />);
};

test('with a connection, the text appears late that says what the page waits for', () => {
  expect(render(true)).toContain(`Loading Journal...<span class="${styles.slow}">${WORDS}</span>`);
});

test('without a connection, the text appears at once that says what the page waits for', () => {
  expect(render(false)).toContain(`Loading Journal...<span>${WORDS}</span>`);
});
