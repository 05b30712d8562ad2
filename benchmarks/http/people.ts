/** Users of a measured server, each with an access token. */
import { PUBLISHABLE_KEY } from '#server/config/config.ts';

export const PASSWORD = 'correct horse battery';

export type Person = { id: string; email: string; token: string };

/** Signs up users of a server that has `AUTH_RATE_LIMITS=off`, one after another. */
export async function signUpPeople(url: string, count: number): Promise<Person[]> {
  const people: Person[] = [];
  for (let index = 0; index < count; index += 1) {
    const email = `person-${index}@example.com`;
    const answer = await fetch(`${url}/auth/v1/signup`, {
      method: 'POST',
      headers: { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json' },
      body: JSON.stringify({ email, password: PASSWORD }),
    });
    const { access_token: token, user } = (await answer.json()) as { access_token: string; user: { id: string } };
    people.push({ id: user.id, email, token });
  }
  return people;
}
