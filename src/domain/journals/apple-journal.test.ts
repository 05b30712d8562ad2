import { describe, expect, test } from 'vitest';
import { measureCpuMs } from '../../../tests/support/cpu-time.ts';
import { detectProgram, readFiles, sourceFiles } from '../../../tests/support/journal-files.ts';
import { appleJournal } from './apple-journal.ts';

const page = ({
  header = 'Sunday, 17 December 2023',
  title = '',
  body = '<p class="p2"><span class="s2">Text</span></p>',
  extra = '',
  style = '',
}) =>
  `<!DOCTYPE html>
<html dir="auto"><head><meta charset="UTF-8"><style type="text/css">p.p1 {margin: 0.0px}${style}</style></head>
<body>
<p class="p1"><span class="s1"><div class='pageContainer'>    <div class="pageHeader">${header}</div>${extra}<div class='title'>${title}</div><div class='bodyText'></span></p>
${body}
<p class="p1"><span class="s1"></div></div></span></p>
</body></html>`;

const readPages = (files: Record<string, string>) => readFiles(appleJournal, sourceFiles(files));

describe('the HTML export of Apple Journal', () => {
  test('is recognised in its folder, around it and as a single page', async () => {
    expect(await detectProgram(sourceFiles({ 'AppleJournalEntries/Entries/2023-12-17.html': page({}) }))).toBe(
      'Apple Journal',
    );
    expect(await detectProgram(sourceFiles({ 'Entries/a.html': page({}), 'index.html': '<html></html>' }))).toBe(
      'Apple Journal',
    );
    expect(await detectProgram(sourceFiles({ 'a.html': '<html><body>Other</body></html>' }))).not.toBe('Apple Journal');
  });

  test('gives an entry the day of its header in any language', async () => {
    const headers = [
      'Sunday, 17 December 2023',
      'Sunday, December 17, 2023',
      'domenica 17 dicembre 2023',
      'Sonntag, 17. Dezember 2023',
      'dimanche 17 décembre 2023',
      'niedziela, 17 grudnia 2023',
      '2023年12月17日 星期日',
      '2023년 12월 17일 일요일',
      '2023. december 17., vasárnap',
    ];
    for (const header of headers) {
      const { entries } = await readPages({ 'Entries/one.html': page({ header }) });
      expect([header, entries[0]?.day]).toEqual([header, '2023-12-17']);
    }
  });

  test('takes the day of the file name where the header has none, and says where neither has one', async () => {
    const { entries, skipped } = await readPages({
      'Entries/2024-11-03_Walk.html': page({ header: 'Einhverja' }),
      'Entries/none.html': page({ header: '' }),
      'Entries/2023-02-30.html': page({ header: '' }),
    });
    expect(entries.map(({ day }) => day)).toEqual(['2024-11-03']);
    expect(skipped.map(({ source, reason }) => [source, reason])).toEqual([
      ['Entries/none.html', 'noDate'],
      ['Entries/2023-02-30.html', 'invalidDate'],
    ]);
  });

  test('keeps title, prompt and paragraphs, and counts photos, videos and recordings only', async () => {
    const extra = `<div class="assetGrid">
      <div id="A" class="gridItem assetType_photo"><img src="../Resources/A.heic" class="asset_image"/></div>
      <div id="B" class="gridItem assetType_livePhoto"><img src="../Resources/B.heic"></div>
      <div id="C" class="gridItem assetType_multiPinMap"><div class="gridItemOverlayFooter">Old Town</div></div>
      <div id="D" class="gridItem assetType_video"><video><source src="../Resources/D.mov"></video></div></div>
      <div class='reflectionPrompt'>What &amp; why?</div>`;
    const body =
      '<p class="p2"><span class="s2">First &lt;paragraph&gt;</span></p>\n<p class="p2"><span class="s3">loud</span></p>';
    const style = "span.s3 {font-family: '.SFUI-Bold'; font-weight: bold; font-size: 17px}";
    const { entries } = await readPages({ 'Entries/a.html': page({ title: 'A &quot;day&quot;', extra, body, style }) });
    expect(entries).toEqual([
      {
        kind: 'entry',
        day: '2023-12-17',
        time: null,
        title: 'A "day"',
        body: {
          format: 'html',
          text: '<p>What &amp; why?</p><p class="p2"><span class="s2">First &lt;paragraph&gt;</span></p>\n<p class="p2"><span style="font-weight:bold">loud</span></p>',
        },
        source: 'Entries/a.html',
        pictures: 3,
      },
    ]);
  });

  test('takes linear time', async () => {
    for (const body of [`${' '.repeat(200_000)}x`, `${'<p> '.repeat(50_000)}x`, '<p><span> '.repeat(20_000)]) {
      expect(await measureCpuMs(() => readPages({ 'a.html': page({ body }) }))).toBeLessThan(5_000);
    }
  });
});
