import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addDays, dateLabel, day } from '../day/day.ts';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { notion } from './notion.ts';

const id = (digit: string): string => digit.repeat(32);
const read = (files: Record<string, string>) => readFiles(notion, sourceFiles(files));
const page = (title: string, properties: string, body: string): string =>
  `# ${title}\n\n${properties}${properties && '\n\n'}${body}\n`;
const html = (title: string, properties: string, body: string): string =>
  `<html><head><meta charset="utf-8"/><title>${title}</title><style>body{}</style></head><body><article id="1590080a-a5a3-8024-88c2-e857dea7aa7e" class="page sans"><header><h1 class="page-title" dir="auto">${title}</h1><p class="page-description"></p>${
    properties && `<table class="properties"><tbody>${properties}</tbody></table>`
  }</header><div class="page-body">${body}</div></article></body></html>`;
const row = (type: string, name: string, value: string): string =>
  `<tr class="property-row property-row-${type}"><th><span class="icon property-icon"><svg viewBox="0 0 1 1"></svg></span>${name}</th><td>${value}</td></tr>`;

describe('the export of Notion', () => {
  test('is recognised by the ids in its names', async () => {
    expect(await detectProgram(sourceFiles({ [`Export/Journal/Monday ${id('a')}.md`]: '# Monday' }))).toBe('Notion');
    expect(
      await detectProgram(sourceFiles({ [`Journal/One ${id('b')}.html`]: html('One', '', 'x'), 'index.html': '' })),
    ).toBe('Notion');
    expect(await detectProgram(sourceFiles({ 'One.html': html('One', '', 'x') }))).toBe('Notion');
    expect(await detectProgram(sourceFiles({ 'One.md': '# One' }))).not.toBe('Notion');
  });

  test('dates a page by its title, its date, its creation, and then by another date', async () => {
    const { entries } = await read({
      [`J/a ${id('a')}.md`]: page('Wednesday, May 1, 2024', 'Created: June 1, 2024 9:00 AM', 'Title'),
      [`J/b ${id('b')}.md`]: page('Launch', 'Created: June 1, 2024 9:00 AM\nTags: a, b\nDate: May 2, 2024', 'Date'),
      [`J/c ${id('c')}.md`]: page('Launch', 'Due: June 9, 2024\nCreated: May 3, 2024 11:30 PM', 'Created'),
      [`J/d ${id('d')}.md`]: page('Launch', 'Visited: May 4, 2024 → May 6, 2024\nLast edited: June 1, 2024', 'Other'),
      [`J/e ${id('e')}.md`]: page('May 5, 2024', 'Created: May 5, 2024 7:15 AM', 'Both'),
    });
    expect(entries.map(({ day: of, time, title, body }) => [of, time, title, body.text])).toEqual([
      ['2024-05-01', null, null, 'Title'],
      ['2024-05-02', null, 'Launch', 'Date'],
      ['2024-05-03', '23:30:00', 'Launch', 'Created'],
      ['2024-05-04', null, 'Launch', 'Other'],
      ['2024-05-05', '07:15:00', null, 'Both'],
    ]);
  });

  test('takes lines below a title as properties only with a date or in a database', async () => {
    const { entries, skipped } = await read({
      [`a ${id('a')}.md`]: page('May 1, 2024', 'Note: call Bob\nTodo: write', 'End'),
      [`J ${id('9')}.csv`]: 'Name',
      [`J/b ${id('b')}.md`]: page('May 2, 2024', 'Mood: good', 'End'),
      [`c ${id('c')}.md`]: page('Reading list', 'Books: many', 'End'),
    });
    expect(entries.map(({ body }) => body.text)).toEqual(['Note: call Bob\nTodo: write\n\nEnd', 'End']);
    expect(skipped).toEqual([{ kind: 'skipped', source: `c ${id('c')}.md`, reason: 'noDate' }]);
  });

  test('keeps the further lines of a property', async () => {
    const properties =
      '#: 126\nCreated time: Apr 02, 2021 8:07 AM\nTags:\nNotes: one\ntwo\nLast edited time: 27. Juli 2023 11:52';
    const { entries } = await read({ [`J/a ${id('a')}.md`]: page('Processor', properties, 'End') });
    expect(entries).toMatchObject([{ day: '2021-04-02', time: '08:07:00', body: { text: 'two\n\nEnd' } }]);
  });

  test('resolves dates in numbers by the other pages', async () => {
    const files = (last: string) => ({
      [`J/a ${id('a')}.md`]: page('One', 'Date: 03/04/2024', 'x'),
      [`J/b ${id('b')}.md`]: page('Two', `Date: ${last}`, 'x'),
    });
    expect((await read(files('25/12/2024'))).entries.map(({ day: of }) => of).toSorted()).toEqual([
      '2024-04-03',
      '2024-12-25',
    ]);
    expect((await read(files('May 2, 2024'))).skipped).toMatchObject([{ reason: 'ambiguousDate' }]);
  });

  test('keeps boxes, callouts and toggles of Markdown, and leaves files out', async () => {
    const body = `- [ ] open\n- [x] done\n\n<aside>\n💡 Mind this\n\n</aside>\n\n<details>\n<summary>More</summary>\n\nhidden\n\n</details>\n\n![shot.png](May%201/shot.png)\n\n[report.pdf](May%201/report.pdf) [Plan](Plan%20${id('f')}.md) [Team](https://www.notion.so/Team-${id('e')}?pvs=21)`;
    const { entries } = await read({ [`a ${id('a')}.md`]: page('May 1, 2024', '', body) });
    expect(entries[0]).toMatchObject({ pictures: 2 });
    expect(entries[0]!.body.text.replace(/\n{2,}/g, '\n')).toBe(
      '- [ ] open\n- [x] done\n💡 Mind this\n**More**\nhidden\nreport.pdf Plan Team',
    );
  });

  test('reads pages of HTML with their properties', async () => {
    const properties =
      row('created_time', 'Erstellt', '<time>@May 1, 2024 10:30 PM</time>') +
      row('multi_select', 'Tags', '<span class="selected-value">home</span>');
    const body = `<p id="x">Text &amp; <a href="Plan%20${id('f')}.html">Plan</a> <a href="https://e.org">web</a></p><ul class="to-do-list"><li><div class="checkbox checkbox-on"></div> <span class="to-do-children-checked">Done</span></li></ul><figure class="image"><a href="A/b.png"><img src="A/b.png"/></a></figure><figure><div class="source"><a href="A/c.pdf">c.pdf</a></div></figure><figure class="callout" id="c"><div style="font-size:1.5em"><span class="icon">💡</span></div><div style="width:100%">Mind this</div></figure><ul class="toggle"><li><details open=""><summary>More</summary><p>hidden</p></details></li></ul><style>@import url(x)</style><span class="katex"><math><mi>E</mi></math><annotation encoding="application/x-tex">E=mc^2</annotation></span>`;
    const { entries } = await read({ [`Launch ${id('a')}.html`]: html('Launch &amp; more', properties, body) });
    expect(entries).toEqual([
      {
        kind: 'entry',
        day: '2024-05-01',
        time: '22:30:00',
        title: 'Launch & more',
        body: {
          format: 'html',
          text: '<p id="x">Text &amp; Plan <a href="https://e.org">web</a></p><ul class="to-do-list"><li>[x]  <span class="to-do-children-checked">Done</span></li></ul><figure></figure><figure class="callout" id="c"><div style="width:100%">💡 Mind this</div></figure><ul class="toggle"><li><p><strong>More</strong></p><p>hidden</p></li></ul>E=mc^2',
        },
        source: `Launch ${id('a')}.html`,
        pictures: 2,
      },
    ]);
  });

  test('gives back any page of any day', async () => {
    const word = fc.stringMatching(/^[\p{L}\d ,.]{1,20}$/u).map((text) => `x${text}`.trim());
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 20_000 }), word, word, async (count, title, text) => {
        const of = addDays(day('1990-01-01'), count);
        const created = `Created: ${dateLabel(of)} 8:05 AM`;
        const { entries } = await read({ [`J/a ${id('a')}.md`]: page(title, created, text) });
        expect(entries.map((entry) => [entry.day, entry.time, entry.body.text])).toEqual([[of, '08:05:00', text]]);
      }),
    );
  });
});
