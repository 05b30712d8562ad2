import { expect, test } from 'vitest';
import { createLog } from './log.ts';

function lineOf(write: (log: ReturnType<typeof createLog>) => void): string {
  let line = '';
  write(createLog('info', { write: (text: string) => void (line += text) }));
  return line;
}

test('logs a database error without the row it quotes', () => {
  const refused = Object.assign(new Error('duplicate key value'), {
    code: '23505',
    detail: 'Failing row contains (my secret day).',
    where: 'my secret day',
  });
  const line = lineOf((log) => log.error({ err: new Error('the save failed', { cause: refused }) }, 'failed'));
  expect(JSON.parse(line)).toMatchObject({ err: { message: 'the save failed', cause: { code: '23505' } } });
  expect(line).not.toContain('secret');
});

test('redacts values under private names', () => {
  const line = lineOf((log) => log.info({ email: 'pat@example.com', token: 'abc', route: '/x' }, 'request'));
  expect(JSON.parse(line)).toMatchObject({ email: '[private]', token: '[private]', route: '/x' });
});
