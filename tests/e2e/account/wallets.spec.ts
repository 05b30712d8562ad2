/** Signing in with a wallet: announced by EIP-6963 for Ethereum, registered by the Wallet Standard for Solana. */
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import * as Address from 'ox/Address';
import type * as Hex from 'ox/Hex';
import * as PersonalMessage from 'ox/PersonalMessage';
import * as Secp256k1 from 'ox/Secp256k1';
import * as Signature from 'ox/Signature';
import type { Page } from '@playwright/test';
import { editor, expectSaved, items, sessionOf } from '../support/journal.ts';
import { endSession } from '../support/session.ts';
import { expectNoHorizontalScroll, inBothThemes } from '../support/themes.ts';
import { expect, test } from '../support/test.ts';

test.use({ serverSettings: { AUTH_ETHEREUM: 'on', AUTH_SOLANA: 'on' } });

type WalletWindow = {
  signEthereum: (message: string) => Promise<string>;
  signSolana: (message: number[]) => Promise<number[]>;
};

/** The wallet asks its user, who says no as long as `answers.signs` is false. */
async function installEthereumWallet(page: Page, answers: { signs: boolean }): Promise<string> {
  const privateKey = Secp256k1.randomPrivateKey();
  const address = Address.fromPublicKey(Secp256k1.getPublicKey({ privateKey }), { checksum: true });
  await page.exposeFunction('signEthereum', (message: Hex.Hex) => {
    const payload = PersonalMessage.getSignPayload(message);
    return answers.signs ? Signature.toHex(Secp256k1.sign({ payload, privateKey })) : '';
  });
  await page.addInitScript((account) => {
    const sign = (message: string) => (globalThis as unknown as WalletWindow).signEthereum(message);
    const provider = {
      async request({ method, params }: { method: string; params?: string[] }) {
        if (method === 'eth_requestAccounts') return [account];
        if (method === 'eth_chainId') return '0x1';
        const signature = await sign(params![0]!);
        if (signature === '') throw Object.assign(new Error('rejected'), { code: 4001 });
        return signature;
      },
    };
    const detail = { info: { uuid: 'a', name: 'Test Fox', icon: 'data:,', rdns: 'test.fox' }, provider };
    addEventListener('eip6963:requestProvider', () =>
      dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail })),
    );
  }, address);
  return address.toLowerCase();
}

async function installSolanaWallet(page: Page): Promise<string> {
  const { secretKey, publicKey } = ed25519.keygen();
  const address = base58.encode(publicKey);
  await page.exposeFunction('signSolana', (message: number[]) => [...ed25519.sign(new Uint8Array(message), secretKey)]);
  await page.addInitScript((account) => {
    const wallet = {
      name: 'Test Phantom',
      chains: ['solana:mainnet'],
      features: {
        'standard:connect': { connect: () => Promise.resolve({ accounts: [{ address: account }] }) },
        'solana:signMessage': {
          async signMessage({ message }: { message: Uint8Array }) {
            const signature = await (globalThis as unknown as WalletWindow).signSolana([...message]);
            return [{ signedMessage: message, signature: new Uint8Array(signature) }];
          },
        },
      },
    };
    addEventListener('wallet-standard:app-ready', (event) =>
      (event as CustomEvent<{ register: (given: typeof wallet) => void }>).detail.register(wallet),
    );
  }, address);
  return address;
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

const openWallets = async (page: Page): Promise<void> => {
  await button(page, 'Continue with a wallet').click();
  await expect(page.getByRole('heading', { name: 'Sign in with a wallet' })).toBeVisible();
};

/** The wallet of the page's account. */
const identityOf = async (page: Page): Promise<unknown> => {
  const { user } = (await sessionOf(page)) as unknown as { user: { identities: { id: string }[] } };
  return user.identities[0]?.id;
};

test('an Ethereum wallet signs in, also over the page after its session has ended', async ({
  page,
  expectAccessible,
}) => {
  const answers = { signs: false };
  const address = await installEthereumWallet(page, answers);
  await page.goto('/login');
  await openWallets(page);
  await button(page, 'Continue with Test Fox (Ethereum)').click();
  await expect(page.getByRole('alert').filter({ hasText: 'You did not sign the message.' })).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
  answers.signs = true;
  await button(page, 'Continue with Test Fox (Ethereum)').click();
  await expect(page).toHaveURL('/journal');
  expect(await identityOf(page)).toBe(`web3:ethereum:${address}`);

  await editor(page).click();
  await page.keyboard.type('Half a thought');
  await endSession(page);
  const overlay = page.getByRole('dialog', { name: 'Sign in again' });
  await overlay.getByRole('button', { name: 'Continue with a wallet' }).click();
  await overlay.getByRole('button', { name: 'Continue with Test Fox (Ethereum)' }).click();
  await expect(overlay).toHaveCount(0);
  await expect(items(page)).toHaveText(['Half a thought']);
  await expectSaved(page);
});

test('a Solana wallet signs in', async ({ page }) => {
  const address = await installSolanaWallet(page);
  await page.goto('/login');
  await openWallets(page);
  await button(page, 'Continue with Test Phantom (Solana)').click();
  await expect(page).toHaveURL('/journal');
  expect(await identityOf(page)).toBe(`web3:solana:${address}`);
});

test('a browser without a wallet is told so, and looks again', async ({ page, expectAccessible }) => {
  await page.goto('/login');
  await openWallets(page);
  await expect(page.getByText('No Ethereum or Solana wallet was found in this browser.')).toBeVisible();
  await inBothThemes(page, expectAccessible);
  await expectNoHorizontalScroll(page);
  await page.evaluate(() =>
    Object.assign(globalThis, { ethereum: { request: () => Promise.reject(new Error('no')) } }),
  );
  await button(page, 'Look again').click();
  await button(page, 'Continue with your wallet (Ethereum)').click();
  await expect(page.getByText('Your wallet did not answer.')).toBeVisible();
  await button(page, 'Sign in another way').click();
  await expect(page.getByLabel('Password')).toBeVisible();
});
