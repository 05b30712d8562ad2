/** The settings of a server for pictures and stories: all of the product with its sandbox, on data of its own. */
export const showSettings = (port: string, dataDir: string) => ({
  HOST: '127.0.0.1',
  PORT: port,
  PUBLIC_URL: `http://localhost:${port}`,
  DATA_DIR: dataDir,
  DATABASE_URL: '',
  NODE_ENV: 'development',
  SANDBOX: 'on',
  AUTH_AUTOCONFIRM: 'on',
  AUTH_RATE_LIMITS: 'off',
  PAYMENT_BLOCKED_COUNTRIES: 'KP',
  LOG_LEVEL: 'error',
});
