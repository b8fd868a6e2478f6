package wire

import (
	"strings"

	"guidon/pkg/flags"
	"guidon/pkg/review"
)

// A CommentBody is the text of a comment.
type CommentBody struct {
	Text string `json:"text"`
}

// Check adds the problems of the comment.
func (b CommentBody) Check(_ flags.Limits, problems *flags.Problems) {
	if strings.TrimSpace(b.Text) == "" {
		problems.Add("/text", "is required")
	}
	CheckComment("/text", b.Text, problems)
}

// CheckComment adds the problems of the text of a comment, which can have several lines.
func CheckComment(at, text string, problems *flags.Problems) {
	flags.CheckLength(at, text, review.MaxComment, problems)
	flags.CheckText(at, strings.TrimSpace(strings.NewReplacer("\r\n", " ", "\n", " ").Replace(text)), problems)
}
