import { expect, test } from '@jest/globals';
import { createComponentContainers } from '../../../../infra/local/sagemaker/component-containers.ts';

// Containers are named after their components.
const components = (names: readonly string[], readyCopies = 1) =>
  names.map((name) => ({
    endpoint: name,
    component: name,
    server: name,
    revisions: [{ key: name, readyCopies, environment: { name } }],
  }));

const recorder = () => {
  const running = new Set<string>();
  const containers = createComponentContainers(({ name = '' }) => {
    running.add(name);
    return {
      ready: Promise.resolve({ url: `http://${name}` }),
      close: async () => {
        running.delete(name);
      },
    };
  });
  return { running, containers };
};

test('at most 16 containers run at once; another one starts when one stops', async () => {
  const { running, containers } = recorder();
  const names = Array.from({ length: 20 }, (_, index) => `c-${index}`);
  containers.follow(components(names));
  expect(running.size).toBe(16);
  containers.follow(components(names.slice(10)));
  expect([...running].sort()).toEqual(names.slice(10).sort());
  await containers.close();
  expect(running.size).toBe(0);
});

test('a container that still loads receives no invocation', async () => {
  const { containers } = recorder();
  const [loading] = components(['a'], 0);
  const [ready] = components(['a']);
  if (!loading || !ready) throw new Error('There are two components');
  containers.follow([loading]);
  expect(await containers.pick(loading)).toBeUndefined();
  expect(await containers.pick(ready)).toEqual({ url: 'http://a' });
  expect(await containers.urls()).toEqual(['http://a']);
  await containers.close();
});

test('two revisions of a component receive invocations by turns, by their copies', async () => {
  const { containers } = recorder();
  const component = {
    endpoint: 'a',
    component: 'a',
    server: 'a',
    revisions: [
      { key: 'old', readyCopies: 2, environment: { name: 'old' } },
      { key: 'new', readyCopies: 1, environment: { name: 'new' } },
    ],
  };
  containers.follow([component]);
  const urls = [];
  for (let turn = 0; turn < 6; turn += 1) urls.push((await containers.pick(component))?.url);
  expect(urls.filter((url) => url === 'http://new')).toHaveLength(2);
  expect(urls.filter((url) => url === 'http://old')).toHaveLength(4);
  await containers.close();
});
