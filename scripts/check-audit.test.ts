import { expect, test } from 'vitest';
import { describeAudit } from './check-audit.ts';

const report = (vulnerabilities: object) => JSON.stringify({ auditReportVersion: 2, vulnerabilities });

test('says that no vulnerability is known', () => {
  expect(describeAudit(report({}))).toEqual({ code: 0, text: expect.stringMatching(/^No known vulnerability/) });
});

test('lists every vulnerable package', () => {
  const pg = { name: 'pg', severity: 'high', range: '<8.1.0', fixAvailable: true };
  const hono = { name: 'hono', severity: 'moderate', range: '*', fixAvailable: false };
  expect(describeAudit(report({ pg, hono }))).toEqual({
    code: 1,
    text: 'high     pg <8.1.0\nmoderate hono * (no fixed version yet)',
  });
});

test.each([
  [JSON.stringify({ message: '405 Method Not Allowed', statusCode: 405 }), '405 Method Not Allowed'],
  ['', 'npm printed no report'],
  ['<html>', 'npm printed no report'],
])('says that the registry did not answer: %s', (printed, reason) => {
  expect(describeAudit(printed)).toEqual({ code: 2, text: `Not checked: the registry did not answer (${reason}).` });
});
