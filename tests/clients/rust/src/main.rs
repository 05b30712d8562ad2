//! Uses the server with the published `supabase-auth` and `postgrest`, and prints what the clients have read as JSON.

use postgrest::Postgrest;
use serde_json::{json, Value};
use std::env;
use supabase_auth::models::{
    AuthClient, EmailSignUpResult, LogoutScope, Session, SignUpWithPasswordOptions, UpdatedUser,
};

fn setting(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

fn session_facts(session: &Session) -> Value {
    json!({
        "expires_at": session.expires_at,
        "access_token": session.access_token,
        "refresh_token": session.refresh_token,
        "email": session.user.email,
        "name": session.user.user_metadata.name,
    })
}

async fn save_log(user_id: &str, token: &str) -> Result<Value, Box<dyn std::error::Error>> {
    let client = Postgrest::new(format!("{}/rest/v1", setting("CLIENT_URL")))
        .insert_header("apikey", setting("CLIENT_KEY"));
    let entries = || client.from("entries").auth(token);
    let date = setting("CLIENT_DATE");
    let row = json!({ "user_id": user_id, "date": date, "content": "<p>Shipped from Rust</p>" });
    entries()
        .insert(row.to_string())
        .execute()
        .await?
        .error_for_status()?;
    entries()
        .upsert(row.to_string())
        .on_conflict("user_id,date")
        .execute()
        .await?
        .error_for_status()?;
    let change = json!({ "content": "<p>Changed from Rust</p>" });
    entries()
        .eq("date", &date)
        .update(change.to_string())
        .execute()
        .await?
        .error_for_status()?;
    let read = entries()
        .select("content_text")
        .in_("date", [&date])
        .or("revision.gt.0, date.is.null")
        .order("date.desc")
        .exact_count()
        .limit(5)
        .execute()
        .await?
        .error_for_status()?;
    let range = read.headers()["content-range"].to_str()?.to_owned();
    let rows: Value = serde_json::from_str(&read.text().await?)?;
    Ok(json!({ "rows": rows, "range": range }))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (email, password) = (setting("CLIENT_EMAIL"), setting("CLIENT_PASSWORD"));
    let client = AuthClient::new(setting("CLIENT_URL"), setting("CLIENT_KEY"), "");
    let options = SignUpWithPasswordOptions {
        data: Some(json!({ "name": "Ada" })),
        ..Default::default()
    };
    let signed_up = match client
        .sign_up_with_email_and_password(&email, &password, Some(options))
        .await?
    {
        EmailSignUpResult::SessionResult(session) => session,
        EmailSignUpResult::ConfirmationResult(_) => {
            return Err("the sign-up waits for a confirmation".into())
        }
    };
    let signed_in = client.login_with_email(&email, &password).await?;
    let refreshed = client.refresh_session(&signed_in.refresh_token).await?;
    let token = &refreshed.access_token;
    let change = UpdatedUser {
        email: None,
        password: None,
        data: Some(json!({ "name": "Grace" })),
    };
    client.update_user(change, token).await?;
    let user = client.get_user(token).await?;
    let log = save_log(&signed_up.user.id.to_string(), token).await?;
    let refused = client
        .login_with_email(&email, "wrong one")
        .await
        .err()
        .map(|error| error.to_string());
    let invited = client
        .invite_user_by_email(
            &format!("invited-{email}"),
            Some(json!({ "name": "Ina" })),
            &setting("CLIENT_SERVICE_TOKEN"),
        )
        .await?;
    let health = client.get_health().await?;
    let settings = client.get_settings().await?;
    client.logout(Some(LogoutScope::Global), token).await?;
    let ended = client
        .get_user(token)
        .await
        .err()
        .map(|error| error.to_string());
    let facts = json!({
        "signed_up": session_facts(&signed_up),
        "signed_in": session_facts(&signed_in),
        "refreshed": session_facts(&refreshed),
        "user": user.user_metadata.name,
        "log": log,
        "refused": refused,
        "invited": invited.user_metadata,
        "invited_at": invited.invited_at.is_some(),
        "health": health.name,
        "disable_signup": settings.disable_signup,
        "after_sign_out": ended,
    });
    println!("{facts}");
    Ok(())
}
