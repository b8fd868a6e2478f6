package flags

// The providers of addons.
const (
	AddonWebhook = "webhook"
	AddonSlack   = "slack"
)

// The parameters of addons. All but AddonSecretKey are those of Unleash.
const (
	AddonURL            = "url"
	AddonContentType    = "contentType"    // webhook: the Content-Type header
	AddonAuthorization  = "authorization"  // webhook: the Authorization header
	AddonHeaders        = "customHeaders"  // a JSON object of further headers
	AddonBodyTemplate   = "bodyTemplate"   // webhook: a Mustache template of the body
	AddonUsername       = "username"       // slack: who posts
	AddonEmoji          = "emojiIcon"      // slack: the icon of who posts
	AddonDefaultChannel = "defaultChannel" // slack: for flags without a tag of the type slack
	AddonSecretKey      = "signingSecret"  // signs the body, see docs/how-to
)

// An AddonProvider is a kind of addon.
type AddonProvider struct {
	Name        string
	DisplayName string
	Description string
	Parameters  []AddonParameter
}

// An AddonParameter is a parameter of the addons of a provider. The value of a sensitive one is stored encrypted and never
// returned.
type AddonParameter struct {
	Name        string
	DisplayName string
	Placeholder string
	Description string
	Type        string // of the field in a form: url, text or textfield
	Required    bool
	Sensitive   bool
}

// AddonProviders returns the providers.
func AddonProviders() []AddonProvider {
	url := AddonParameter{Name: AddonURL, DisplayName: "URL", Type: "url", Required: true, Sensitive: true,
		Description: "(Required) Each event is sent to this URL by an HTTP POST."}
	headers := AddonParameter{Name: AddonHeaders, DisplayName: "Extra HTTP headers", Type: "textfield", Sensitive: true,
		Placeholder: `{"X-Team": "checkout"}`,
		Description: "(Optional) A JSON object of further headers and their values, which must be strings."}
	secret := AddonParameter{Name: AddonSecretKey, DisplayName: "Signing secret", Type: "text", Sensitive: true,
		Description: "(Optional) The key of the HMAC-SHA256 signature of each request."}
	return []AddonProvider{
		{AddonWebhook, "Webhook", "Sends each event to a URL.", []AddonParameter{
			url,
			{Name: AddonContentType, DisplayName: "Content-Type", Type: "text", Placeholder: "application/json",
				Description: `(Optional) The Content-Type header. The default is "application/json".`},
			{Name: AddonAuthorization, DisplayName: "Authorization", Type: "text", Sensitive: true,
				Description: "(Optional) The Authorization header."},
			headers,
			{Name: AddonBodyTemplate, DisplayName: "Body template", Type: "textfield",
				Placeholder: `{"event": "{{event.type}}", "createdBy": "{{event.createdBy}}", "json": {{{eventJson}}}}`,
				Description: "(Optional) A Mustache template of the body. The default is the event as JSON, which is {{{eventJson}}} in a template."},
			secret,
		}},
		{AddonSlack, "Slack", "Posts each event to Slack channels.", []AddonParameter{
			url,
			{Name: AddonUsername, DisplayName: "Username", Type: "text", Placeholder: "Unleash",
				Description: `(Optional) The name of who posts. The default is "Unleash".`},
			{Name: AddonEmoji, DisplayName: "Emoji icon", Type: "text", Placeholder: ":unleash:",
				Description: `(Optional) The icon of who posts. The default is ":unleash:".`},
			{Name: AddonDefaultChannel, DisplayName: "Default channel", Type: "text", Required: true,
				Description: "(Required) The channel for flags without a tag of the type slack."},
			headers,
		}},
	}
}
