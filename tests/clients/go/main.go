// Uses the server with the published gotrue-go and postgrest-go, and prints what the clients have read as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/supabase-community/gotrue-go"
	"github.com/supabase-community/gotrue-go/types"
	"github.com/supabase-community/postgrest-go"
)

type facts map[string]any

var (
	url      = os.Getenv("CLIENT_URL")
	key      = os.Getenv("CLIENT_KEY")
	email    = os.Getenv("CLIENT_EMAIL")
	password = os.Getenv("CLIENT_PASSWORD")
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func sessionFacts(session types.Session) facts {
	return facts{
		"expires_at":    session.ExpiresAt,
		"access_token":  session.AccessToken,
		"refresh_token": session.RefreshToken,
		"email":         session.User.Email,
		"name":          session.User.UserMetadata["name"],
	}
}

func saveLog(userID string, token string) facts {
	client := postgrest.NewClient(url+"/rest/v1", "public", map[string]string{"apikey": key})
	client.SetAuthToken(token)
	row := map[string]string{
		"user_id": userID,
		"date":    os.Getenv("CLIENT_DATE"),
		"content": "<p>Shipped from Go</p>",
	}
	entries := func() *postgrest.QueryBuilder { return client.From("entries") }
	_, _, err := entries().Insert(row, false, "", "minimal", "").Execute()
	check(err)
	_, _, err = entries().Insert(row, true, "user_id,date", "representation", "").Execute()
	check(err)
	_, _, err = entries().Update(map[string]string{"content": "<p>Changed from Go</p>"}, "", "").Eq("date", row["date"]).Execute()
	check(err)
	var rows []map[string]any
	count := must(entries().Select("date, content_text", "exact", false).In("date", []string{row["date"]}).
		Or("revision.gt.0, date.is.null", "").Limit(1, "").ExecuteTo(&rows))
	return facts{"text": rows[0]["content_text"], "count": count}
}

func administrate(client gotrue.Client) facts {
	admin := client.WithToken(os.Getenv("CLIENT_SERVICE_TOKEN"))
	created := must(admin.AdminCreateUser(types.AdminCreateUserRequest{
		Email: "created-" + email, Password: &password, EmailConfirm: true,
		UserMetadata: map[string]any{"full_name": "Cleo"},
	}))
	changed := must(admin.AdminUpdateUser(types.AdminUpdateUserRequest{
		UserID: created.ID, UserMetadata: map[string]any{"team": "red"},
	}))
	link := must(admin.AdminGenerateLink(types.AdminGenerateLinkRequest{
		Type: types.LinkTypeSignup, Email: "linked-" + email, Password: password, RedirectTo: url,
		Data: map[string]any{"name": "Lin"},
	}))
	invited := must(admin.Invite(types.InviteRequest{Email: "invited-" + email, Data: map[string]any{"name": "Ina"}}))
	listed := 0
	for _, user := range must(admin.AdminListUsers()).Users {
		if strings.HasSuffix(user.Email, email) {
			listed++
		}
	}
	session := must(client.SignInWithEmailPassword("created-"+email, password))
	factor := must(client.WithToken(session.AccessToken).EnrollFactor(types.EnrollFactorRequest{
		FriendlyName: "App", FactorType: types.FactorTypeTOTP,
	}))
	renamed := must(admin.AdminUpdateUserFactor(types.AdminUpdateUserFactorRequest{
		UserID: created.ID, FactorID: factor.ID, FriendlyName: "Old app",
	}))
	audit := must(admin.AdminAudit(types.AdminAuditRequest{
		Query: &types.AuditQuery{Column: types.AuditQueryColumnAuthor, Value: "created-" + email}, Page: 1, PerPage: 1,
	}))
	entry := audit.Logs[0]
	check(admin.AdminDeleteUser(types.AdminDeleteUserRequest{UserID: created.ID}))
	return facts{
		"changed":       changed.UserMetadata,
		"linked":        link.UserMetadata,
		"linked_at":     link.ConfirmationSentAt != nil,
		"invited":       invited.UserMetadata,
		"invited_at":    invited.InvitedAt != nil,
		"listed":        listed,
		"factor":        renamed.FriendlyName,
		"audit_id":      entry.ID,
		"audit_actions": entry.Payload["action"],
		"audit_actor":   entry.Payload["actor_name"],
		"audit_pages":   audit.TotalPages,
		"audit_next":    audit.NextPage,
		"audit_total":   audit.TotalCount,
	}
}

func main() {
	client := gotrue.New("local", key).WithCustomGoTrueURL(url + "/auth/v1")
	signedUp := must(client.Signup(types.SignupRequest{
		Email: email, Password: password, Data: map[string]any{"name": "Ada"},
	}))
	signedIn := must(client.SignInWithEmailPassword(email, password))
	refreshed := must(client.RefreshToken(signedIn.RefreshToken))
	user := client.WithToken(refreshed.AccessToken)
	check(must2(user.UpdateUser(types.UpdateUserRequest{Data: map[string]any{"name": "Grace"}})))
	_, refused := client.SignInWithEmailPassword(email, "wrong one")
	result := facts{
		"signed_up":      sessionFacts(signedUp.Session),
		"signed_in":      sessionFacts(signedIn.Session),
		"refreshed":      sessionFacts(refreshed.Session),
		"user":           must(user.GetUser()).UserMetadata["name"],
		"log":            saveLog(signedUp.Session.User.ID.String(), refreshed.AccessToken),
		"refused":        fmt.Sprint(refused),
		"health":         must(client.HealthCheck()).Name,
		"disable_signup": must(client.GetSettings()).DisableSignup,
		"administration": administrate(client),
	}
	check(user.Logout())
	_, ended := user.GetUser()
	result["after_sign_out"] = fmt.Sprint(ended)
	check(json.NewEncoder(os.Stdout).Encode(result))
}

func must2[T any](_ T, err error) error { return err }
