/** Changes rows in the database of the worker's server, for states that tests cannot reach, such as old sessions. */
import { joinDatabase } from './accounts.ts';
import { e2eDataDir } from './data-dir.ts';

/** Ages every session and passkey of an account by this many hours. */
export async function ageSessions(baseURL: string, email: string, hours: number): Promise<void> {
  const database = await joinDatabase(e2eDataDir(new URL(baseURL).port));
  try {
    const { rowCount } = await database.asService('make sessions older').statement(
      `with passkeys as (
         update auth.webauthn_credentials set created_at = created_at - make_interval(hours => $2)
          where user_id = (select id from auth.users where email = $1))
       update auth.sessions set created_at = created_at - make_interval(hours => $2)
         where user_id = (select id from auth.users where email = $1)`,
      [email, hours],
    );
    if (rowCount === 0) throw new Error(`no session of ${email}`);
  } finally {
    await database.close();
  }
}

/** Gives an account a confirmed number, such as `+4915123456789`. */
export async function givePhone(baseURL: string, email: string, phone: string): Promise<void> {
  const database = await joinDatabase(e2eDataDir(new URL(baseURL).port));
  try {
    await database
      .asService('give an account a number')
      .statement('update auth.users set phone = $2, phone_confirmed_at = now() where email = $1', [
        email,
        phone.slice(1),
      ]);
  } finally {
    await database.close();
  }
}

/** Removes the password of an account, and the sign-in methods (`amr`) of its sessions. */
export async function forgetPassword(baseURL: string, email: string): Promise<void> {
  const database = await joinDatabase(e2eDataDir(new URL(baseURL).port));
  try {
    const service = database.asService('remove a password');
    await service.statement('update auth.users set password_hash = null where email = $1', [email]);
    await service.statement(
      `update auth.sessions set amr = '[]' where user_id = (select id from auth.users where email = $1)`,
      [email],
    );
  } finally {
    await database.close();
  }
}
