/** Parse Server with sessions and an access list for each row. Environment: DATABASE_URL, MODULES, PORT, MASTER_KEY. */
import { createRequire } from 'node:module';

// Parse writes log files into the working directory as soon as it is loaded, before it reads `logsFolder`.
process.env.PARSE_SERVER_LOGS_FOLDER = 'null';
const require = createRequire(process.env.MODULES);
const express = require('express');
const { ParseServer } = require('parse-server');

const { DATABASE_URL, PORT, MASTER_KEY } = process.env;
// Parse requires a host in the URL, and takes the directory of the socket from its options instead.
const database = new URL(DATABASE_URL.replace('@/', '@localhost/'));
const serverURL = `http://127.0.0.1:${PORT}/parse`;
const parse = new ParseServer({
  appId: 'journal',
  masterKey: MASTER_KEY,
  serverURL,
  databaseURI: database.href,
  databaseOptions: {
    host: database.searchParams.get('host'),
    port: Number(database.searchParams.get('port')),
    max: 16,
  },
  allowClientClassCreation: false,
  silent: true,
  logsFolder: null,
  verbose: false,
});
await parse.start();
express().use('/parse', parse.app).listen(Number(PORT), '127.0.0.1');
