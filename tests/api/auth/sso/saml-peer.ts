import {
  createSamlIdentityProvider,
  type SamlIdentityProvider,
} from '../../../../simulators/saml/identity-provider.ts';
import { newKeyPair } from '../../../../simulators/saml/key-pair.ts';

/** An identity provider with a key of its own, whose pages no browser opens. */
export async function createSamlPeer(name = 'idp.example', keyBits = 2048): Promise<SamlIdentityProvider> {
  const keys = await newKeyPair(name, keyBits);
  return createSamlIdentityProvider({
    entityId: `https://${name}/metadata`,
    signInUrl: 'https://idp.example/sso',
    keys,
  });
}
