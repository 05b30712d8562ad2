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

test('says what it waits for only after a while', () => {
  expect(render(true)).toContain(`Loading Journal...<span class="${styles.slow}">${WORDS}</span>`);
});

test('says so at once without a connection', () => {
  expect(render(false)).toContain(`Loading Journal...<span>${WORDS}</span>`);
});
