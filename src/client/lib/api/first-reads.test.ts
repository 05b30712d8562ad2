/** Tests that the boot script sends the URLs that the app's client of the API sends. */
import { expect, test } from 'vitest';
import { day } from '#domain/day/day.ts';
import { createDataClient, type DataClient } from './data-client.ts';
import { readLog, readLoggedDates, readProfile, urlsOf } from './first-reads.ts';

const API = 'https://journal.example.com';
const ID = '6f1c0f7e-95a9-4f9c-9a53-0a0b6a9a3c11';

test.each([
  ['the log', (data: DataClient) => readLog(data, ID, day('2026-11-23'))],
  ['the dates', (data: DataClient) => readLoggedDates(data, ID)],
  ['the profile', (data: DataClient) => readProfile(data, ID)],
])('the URL of %s equals the one that the client requests', async (_what, request) => {
  const urls: string[] = [];
  const data = createDataClient({
    apiUrl: API,
    withSession: () => async (input) => {
      urls.push(input instanceof Request ? input.url : input.toString());
      return Response.json([]);
    },
  });
  await request(data);
  expect(urls).toEqual(urlsOf(API, request));
});
