import { describe, expect, test } from 'vitest';
import { findTypedMark } from './input-rules.ts';

/** Types a text letter by letter: the first completed mark, as `content -> marks`, or null if the text stays. */
function typed(text: string, after = ''): string | null {
  for (let length = 1; length <= text.length; length += 1) {
    const before = text.slice(0, length);
    const found = findTypedMark(before, after);
    if (found) return `${before.slice(found.from + found.size, -found.size)} -> ${found.marks.join(' ')}`;
  }
  return null;
}

describe('completes a mark', () => {
  test.each([
    ['**bold**', 'bold -> bold'],
    ['*it*', 'it -> italic'],
    ['_it_', 'it -> italic'],
    ['__two words__', 'two words -> bold'],
    ['***both***', 'both -> bold italic'],
    ['~~gone~~', 'gone -> strike'],
    ['`npm ci`', 'npm ci -> code'],
    ['`/etc/*.conf`', '/etc/*.conf -> code'],
    ['`.env`', '.env -> code'],
    ['shipped **v2.0**', 'v2.0 -> bold'],
    ['(*really*', 'really -> italic'],
    ['"*quoted*', 'quoted -> italic'],
    ['*"quoted"*', '"quoted" -> italic'],
    ['**Note:**', 'Note: -> bold'],
    ['*done!*', 'done! -> italic'],
    ['**2 * 3**', '2 * 3 -> bold'],
    ['2 * 3 and *it*', 'it -> italic'],
    ['今日は**大事**', '大事 -> bold'],
    ['**über**', 'über -> bold'],
    ['*🎉 shipped 🎉*', '🎉 shipped 🎉 -> italic'],
    ['_snake_', 'snake -> italic'],
    ['~~**x**', 'x -> bold'],
  ])('%j', (text, result) => expect(typed(text)).toBe(result));
});

describe('leaves as typed', () => {
  test.each([
    '2 * 3 * 4',
    '2*3*4',
    '2 *3 * 4',
    'x = 2**3**4',
    'call __init__ now',
    'if __name__ == "__main__":',
    '__dirname and __filename',
    'snake_case_name and other_snake_case',
    'rm *.log *.tmp',
    'rm *.log,*.tmp',
    'src/**/*.ts and **/*.test.ts',
    '/*comment*/',
    'f(*args, **kwargs)',
    'char *a, *b',
    'a* b*',
    '5 ~~ 6 ~~ 7',
    '~/a and ~/b',
    '** ** **',
    '* * *',
    '****',
    '____',
    'don`t and won`t',
    '\\*escaped\\*',
    'SELECT count(*), max(*)',
    '*',
    '',
  ])('%j', (text) => expect(typed(text)).toBeNull());

  test('an underscore that a letter follows', () => {
    expect(findTypedMark('_foo_', 'bar')).toBeNull();
    expect(findTypedMark('_foo_', ' bar')).not.toBeNull();
    expect(findTypedMark('*foo*', 'bar')).not.toBeNull();
    expect(findTypedMark('*foo*', '*')).toBeNull();
  });
});
