/** The gauge of the time of the newest backup in BACKUP_DIR. It has no value where another machine keeps the backups. */
import { listBackups } from '../backup/folder.ts';
import { Gauge, type MetricsRegistry } from './prom-client.ts';

export function registerBackupAge(registry: MetricsRegistry, backupDir: string): void {
  void new Gauge({
    name: 'hustle_forge_backup_last_timestamp_seconds',
    help: 'When the newest backup in BACKUP_DIR was begun.',
    // Without labels, the gauge would report 0 while there is no backup.
    labelNames: ['encrypted'],
    aggregator: 'max',
    registers: [registry],
    async collect() {
      const [newest] = await listBackups(backupDir).catch(() => []);
      this.reset();
      if (newest) this.set({ encrypted: String(newest.file.endsWith('.age')) }, newest.createdAt.getTime() / 1000);
    },
  });
}
