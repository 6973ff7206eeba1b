import { expect, test } from '@jest/globals';
import { createNetworks } from '../../../shared/network/networks.ts';
import { urlFault } from '../../../shared/network/url-fault.ts';

const networks = createNetworks('');
const withLoopback = createNetworks('127.0.0.0/8,::1/128');

test.each([
  'https://example.com/webhooks?team=a',
  'https://example.com:8443',
  'https://example.com/@team?to=a@b',
  'https://example.com:443',
  'https://8.8.8.8/',
  'https://[2606:4700::1111]:1024/',
])('%s can be the target of a request', (url) => {
  expect(urlFault(networks, url)).toBeUndefined();
});

test.each([
  ['', 'expected an https URL'],
  ['example.com', 'expected an https URL'],
  [`https://example.com/${'a'.repeat(2_048)}`, 'at most 2048 characters'],
  ['http://example.com/', 'https://'],
  ['ftp://example.com/', 'https://'],
  ['file:///etc/passwd', 'https://'],
  ['https://user@example.com/', 'no user name and password'],
  ['https://:password@example.com/', 'no user name and password'],
  ['https://@example.com/', 'no user name and password'],
  ['https:@example.com/', 'no user name and password'],
  ['https:\\\\@example.com/', 'no user name and password'],
  ['https://exam\tple.com/', 'no spaces, tabs or line breaks'],
  ['https://example.com/a\r\nb', 'no spaces, tabs or line breaks'],
  [' https://example.com/', 'no spaces, tabs or line breaks'],
  ['https://example.com/a b', 'no spaces, tabs or line breaks'],
  ['https://example.com/#fragment', 'no fragment'],
  ['https://example.com:22/', 'the port 443'],
  ['https://example.com:80/', 'the port 443'],
  ['https://example.com:1023/', 'the port 443'],
  [`https://${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.${'e'.repeat(20)}/`, 'at most 253 characters'],
  ['https://127.0.0.1/', '127.0.0.1 is not on the public Internet'],
  ['https://127.0.0.1./', '127.0.0.1 is not on the public Internet'],
  ['https://127.1/', '127.0.0.1 is not on the public Internet'],
  ['https://0177.0.0.1/', '127.0.0.1 is not on the public Internet'],
  ['https://0x7f.0.0.1/', '127.0.0.1 is not on the public Internet'],
  ['https://0x7f000001/', '127.0.0.1 is not on the public Internet'],
  ['https://2130706433/', '127.0.0.1 is not on the public Internet'],
  ['https://017700000001/', '127.0.0.1 is not on the public Internet'],
  ['https://2852039166/', '169.254.169.254 is not on the public Internet'],
  ['https://%31%36%39.254.169.254/', '169.254.169.254 is not on the public Internet'],
  ['https://①⑥⑨.254.169.254/', '169.254.169.254 is not on the public Internet'],
  ['https://169。254。169。254/', '169.254.169.254 is not on the public Internet'],
  ['https://[::1]/', '::1 is not on the public Internet'],
  ['https://[::ffff:127.0.0.1]/', 'is not on the public Internet'],
  ['https://[fd00:ec2::254]/', 'is not on the public Internet'],
  ['https://[fe80::1%25eth0]/', 'expected an https URL'],
])('%s cannot be the target of a request', (url, fault) => {
  expect(urlFault(networks, url)).toContain(fault);
});

test('http is for the deployer’s own networks only', () => {
  expect(urlFault(withLoopback, 'http://127.0.0.1:8080/')).toBeUndefined();
  expect(urlFault(withLoopback, 'http://[::1]/')).toBeUndefined();
  // Each delivery checks whether its addresses are exempt.
  expect(urlFault(withLoopback, 'http://receiver.internal/')).toBeUndefined();
  expect(urlFault(withLoopback, 'http://8.8.8.8/')).toContain('https://');
  expect(urlFault(withLoopback, 'http://10.0.0.1/')).toContain('not on the public Internet');
  expect(urlFault(withLoopback, 'http://127.0.0.1:22/')).toContain('the port 443');
});
