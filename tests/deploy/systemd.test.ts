/** Tests the systemd units with `systemd-analyze`. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { deployPath } from './deploy-files.ts';

const analyze = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  return { status, output: stdout + stderr };
};
const unit = (name: string): string => deployPath('systemd', name);

test.each(['hustle-forge.service', 'hustle-forge-backup.service', 'hustle-forge-backup.timer'])(
  '%s is valid',
  (name) => {
    expect(analyze('verify', '--man=no', unit(name))).toEqual({ status: 0, output: '' });
  },
);

test.each(['hustle-forge.service', 'hustle-forge-backup.service'])('%s is exposed to at most 1.5 of 10', (name) => {
  const { output } = analyze('security', '--offline=true', '--no-pager', unit(name));
  const [, level] = /Overall exposure level for \S+: (\d+\.\d)/.exec(output) ?? [];
  expect(Number(level)).toBeGreaterThan(0);
  expect(Number(level)).toBeLessThanOrEqual(1.5);
});
