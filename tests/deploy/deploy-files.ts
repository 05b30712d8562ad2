/** Reads the files of the folder `deploy` for its tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy');
export const deployPath = (...path: string[]): string => join(DEPLOY, ...path);
const readText = (...path: string[]): string => readFileSync(deployPath(...path), 'utf8');

export type Alert = {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
};

export const ALERTS_FILE = deployPath('prometheus', 'alerts.yaml');
export const readAlerts = (): Alert[] =>
  (parse(readText('prometheus', 'alerts.yaml')) as { groups: { rules: Alert[] }[] }).groups.flatMap(
    ({ rules }) => rules,
  );

type AlertTests = { tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[] };
export const ALERT_TEST_FILES = readdirSync(deployPath('prometheus', 'tests')).map((name) =>
  deployPath('prometheus', 'tests', name),
);
/** Whether each unit test of an alert expects it to fire, by the name of the alert. */
export const readAlertTests = (): Map<string, boolean[]> => {
  const found = new Map<string, boolean[]>();
  for (const file of ALERT_TEST_FILES)
    for (const test of (parse(readFileSync(file, 'utf8')) as AlertTests).tests)
      for (const { alertname, exp_alerts } of test.alert_rule_test)
        found.set(alertname, [...(found.get(alertname) ?? []), exp_alerts.length > 0]);
  return found;
};

export type Dashboard = {
  uid: string;
  panels: { id: number; type: string; title: string; targets?: { expr: string }[] }[];
};
export const readDashboard = (): Dashboard => JSON.parse(readText('grafana', 'hustle-forge.json')) as Dashboard;
export const queriesOf = ({ panels }: Dashboard): string[] =>
  panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** Metrics of other programs: Prometheus itself, blackbox_exporter and kube-state-metrics. */
const OTHER_METRICS = new Set([
  'up',
  'probe_success',
  'probe_ssl_earliest_cert_expiry',
  'kube_cronjob_status_last_successful_time',
]);
/** The names of our metrics in a PromQL expression. */
export const metricsIn = (expr: string): string[] =>
  [...expr.replaceAll(/"[^"]*"|\bby \([^)]*\)|\bon \([^)]*\)/g, '').matchAll(/\b[a-z]\w*(?=\{|\[|\)| [<>=/]|$)/gm)]
    .map(([name]) => name)
    .filter((name) => name.includes('_') && !OTHER_METRICS.has(name));
