import { describe, expect, test } from 'vitest';
import { isTransient, redactRow, sqlStateOf } from '../database/database-error.ts';
import { dataError, toDataError } from './errors.ts';

const failure = (code: string, message = 'said by PostgreSQL') =>
  Object.assign(new Error(message), { code, detail: 'the row' });

describe('an error of the database', () => {
  test.each([
    ['22P02', 400],
    ['22003', 400],
    ['22025', 400],
    ['23502', 400],
    ['23503', 409],
    ['23505', 409],
    ['23514', 400],
    ['21000', 400],
    ['42883', 404],
    ['42P10', 400],
    ['55000', 405],
  ])('%s is the fault of the request and answered with %d in its own words', (code, status) => {
    expect(toDataError(failure(code), false)).toMatchObject({
      status,
      code,
      message: 'said by PostgreSQL',
      details: 'the row',
    });
  });
  test('a missing right is answered 403, and 401 for a guest', () => {
    expect(toDataError(failure('42501'), false)?.status).toBe(403);
    expect(toDataError(failure('42501'), true)?.status).toBe(401);
  });
  test.each([
    '08006',
    '53300',
    '55P03',
    '57P01',
    '57014',
    '58030',
    '25006',
    '40P01',
    '26000',
    'ECONNREFUSED',
    'ECONNRESET',
    'EPIPE',
    'EAGAIN',
    'ERR_STREAM_DESTROYED',
  ])('%s is transient and answered 503', (code) => {
    expect(isTransient(failure(code))).toBe(true);
    expect(toDataError(failure(code), false)).toMatchObject({ status: 503, code: 'PGRST000', details: null });
  });
  test.each(['md.c', 'xlog.c', 'fd.c', 'slru.c', 'postinit.c'])('42501 of %s is transient and answered 503', (file) => {
    const error = Object.assign(failure('42501'), { file });
    expect(toDataError(error, false)).toMatchObject({ status: 503, code: 'PGRST000', details: null });
    expect(sqlStateOf(error)).toBe('58030');
  });
  test.each(['aclchk.c', 'execMain.c', 'rls.c', 'pl_exec.c'])('42501 of %s is a missing right', (file) => {
    const error = Object.assign(failure('42501'), { file });
    expect([toDataError(error, false)?.status, toDataError(error, true)?.status]).toEqual([403, 401]);
    expect(sqlStateOf(error)).toBe('42501');
  });
  test('an exhausted pool and a closed connection are answered 503', () => {
    expect(toDataError(new Error('timeout exceeded when trying to connect'), false)?.status).toBe(503);
    expect(toDataError(new Error('Client was closed and is not queryable'), false)?.status).toBe(503);
  });
  test.each(['42601', '42P01', 'XX000'])('toDataError returns null for %s, a fault of the server', (code) => {
    expect(toDataError(failure(code), false)).toBeNull();
  });
  test('toDataError returns null for an error that is not of the database', () => {
    expect(toDataError(new TypeError('x is not a function'), false)).toBeNull();
    expect(toDataError('text', false)).toBeNull();
  });
  test('toDataError returns a DataError unchanged', () => {
    const refusal = dataError('PGRST100');
    expect(toDataError(refusal, false)).toBe(refusal);
  });
  test('is logged without the row that it quotes', () => {
    expect(JSON.stringify(redactRow(failure('XX000')))).not.toContain('the row');
  });
});
