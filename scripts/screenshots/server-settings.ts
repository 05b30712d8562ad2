/** Settings of a server for screenshots and end-to-end tests: the whole product with its sandbox. */
export const sandboxedServerSettings = (port: string, dataDir: string) => ({
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
