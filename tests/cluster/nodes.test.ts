import { expect, test } from 'vitest';
import { parseEnvironment } from './nodes.ts';

test('an environment file is read without comments, and values may contain "="', () => {
  const text = '# PATH=/bin\nETCD_ENABLE_V2=true\n\nETCD_INITIAL_CLUSTER=pg1=http://pg1:2380\n';
  expect(parseEnvironment(text)).toEqual({ ETCD_ENABLE_V2: 'true', ETCD_INITIAL_CLUSTER: 'pg1=http://pg1:2380' });
});
