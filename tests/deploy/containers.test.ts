/** Lints the Dockerfile, and validates compose.yaml by the schema of the Compose specification. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { deployPath } from './deploy-files.ts';

test('hadolint finds nothing in the Dockerfile', () => {
  const { status, stdout } = spawnSync(process.env['HADOLINT'] ?? 'hadolint', [deployPath('..', 'Dockerfile')], {
    encoding: 'utf8',
  });
  expect([status, stdout]).toEqual([0, '']);
});

const readCompose = (): { services: Record<string, Record<string, unknown>> } =>
  parse(readFileSync(deployPath('..', 'compose.yaml'), 'utf8')) as never;

function createValidator() {
  const file = join(process.env['COMPOSE_SCHEMA'] ?? '', 'compose-spec.json');
  const schema = JSON.parse(readFileSync(file, 'utf8')) as { $schema?: string };
  // `$schema` names draft 7 by an address that ajv does not know.
  delete schema.$schema;
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  return ajv.compile(schema);
}

test('compose.yaml fits its schema, and the schema notices a mistake', () => {
  const validate = createValidator();
  validate(readCompose());
  expect(validate.errors).toBeNull();
  const wrong = readCompose();
  wrong.services['app']!['stop_grace_perod'] = '30s';
  expect(validate(wrong)).toBe(false);
});
