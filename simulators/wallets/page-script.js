/**
 * Two wallets for the product's pages: Ethereum (announced by EIP-6963, asked by EIP-1193) and Solana (registered by the
 * Wallet Standard). They ask the user before they sign. The simulator holds their keys (app.ts).
 */
const NAME = 'Sandbox wallet';
const ICON = 'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg"/%3E';
/** The code of EIP-1193 for a request that the user rejects. */
const USER_REJECTED = 4001;

const toHex = (bytes) => `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
const fromHex = (text) => Uint8Array.from(text.slice(2).match(/../g), (pair) => Number.parseInt(pair, 16));

/** @param {string} chain */
async function readAddress(chain) {
  const response = await fetch(`/sandbox/wallets/${chain}`);
  const { address } = await response.json();
  return address;
}

/**
 * Rejects if the user cancels.
 *
 * @param {string} chain
 * @param {string} message in hexadecimal, with `0x`
 * @returns {Promise<string>} in hexadecimal, with `0x`
 */
async function sign(chain, message) {
  if (!(await askUser(new TextDecoder().decode(fromHex(message))))) {
    throw Object.assign(new Error('The user rejected the request.'), { code: USER_REJECTED });
  }
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ message });
  const response = await fetch(`/sandbox/wallets/${chain}/sign`, { method: 'POST', headers, body });
  const { signature } = await response.json();
  return signature;
}

/**
 * The window of the wallet. Its shadow root keeps the page's styles out, and the sandbox's away from the page.
 *
 * @param {string} message
 * @returns {Promise<boolean>} whether the user signs
 */
async function askUser(message) {
  const host = document.createElement('div');
  const root = host.attachShadow({ mode: 'open' });
  // The page's Content-Security-Policy forbids inline styles, but not a style sheet that a script constructs.
  const styles = new CSSStyleSheet();
  const response = await fetch('/sandbox/style.css');
  root.adoptedStyleSheets = [await styles.replace(await response.text())];
  root.innerHTML = `<dialog class="wallet" aria-labelledby="title">
<form method="dialog">
<p class="stamp">Simulation – no real wallet</p>
<h1 id="title">Sign this message?</h1>
<pre tabindex="0" role="region" aria-label="Message"></pre>
<div class="actions"><button class="primary" value="sign">Sign</button><button value="">Cancel</button></div>
</form>
</dialog>`;
  const dialog = root.querySelector('dialog');
  root.querySelector('pre').textContent = message;
  document.body.append(host);
  dialog.showModal();
  await new Promise((resolve) => dialog.addEventListener('close', resolve));
  host.remove();
  return dialog.returnValue === 'sign';
}

const ethereum = {
  async request({ method, params = [] }) {
    if (method === 'eth_requestAccounts' || method === 'eth_accounts') return [await readAddress('ethereum')];
    if (method === 'eth_chainId') return '0x1';
    if (method === 'personal_sign') return sign('ethereum', params[0]);
    throw Object.assign(new Error(`The sandbox's wallet does not know ${method}.`), { code: 4200 });
  },
};

const announceEthereum = () => {
  const info = { uuid: '3f0e7a52-6f0c-4c0e-9d7e-2b8f5f1f6a10', name: NAME, icon: ICON, rdns: 'example.sandbox' };
  dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider: ethereum }) }));
};

const solana = {
  version: '1.0.0',
  name: NAME,
  icon: ICON,
  chains: ['solana:mainnet'],
  accounts: [],
  features: {
    'standard:connect': {
      version: '1.0.0',
      connect: async () => ({ accounts: [{ address: await readAddress('solana'), chains: ['solana:mainnet'] }] }),
    },
    'solana:signMessage': {
      version: '1.0.0',
      signMessage: async ({ message }) => [
        { signedMessage: message, signature: fromHex(await sign('solana', toHex(message))) },
      ],
    },
  },
};

addEventListener('eip6963:requestProvider', announceEthereum);
announceEthereum();
addEventListener('wallet-standard:app-ready', ({ detail }) => detail.register(solana));
dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: ({ register }) => register(solana) }));
