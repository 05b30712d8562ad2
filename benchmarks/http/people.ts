/** Users of a measured server, each with an access token. */
import { PUBLISHABLE_KEY } from '#server/config/config.ts';

export const PASSWORD = 'correct horse battery';

export type Person = { id: string; email: string; token: string };

/** Signs up users of a server that has `AUTH_RATE_LIMITS=off`, one after another. */
export async function signUpPeople(url: string, count: number): Promise<Person[]> {
  const people: Person[] = [];
  for (let index = 0; index < count; index += 1) {
    const email = `person-${index}@example.com`;
    people.push(await authenticate(`${url}/auth/v1/signup`, email));
  }
  return people;
}

/** Signs everybody in again: access tokens expire after an hour. */
export async function renewTokens(url: string, people: readonly Person[]): Promise<void> {
  for (const person of people)
    Object.assign(person, await authenticate(`${url}/auth/v1/token?grant_type=password`, person.email));
}

async function authenticate(url: string, email: string): Promise<Person> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { apikey: PUBLISHABLE_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  const { access_token: token, user } = (await answer.json()) as { access_token: string; user: { id: string } };
  return { id: user.id, email, token };
}
