package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A decision is what IAM has to decide about an action of a role on the table, in a partition if there is a key.
type decision struct {
	role, action, key string
	allowed           bool
}

func (p *proof) actions(ctx context.Context) ([]Figure, error) {
	return p.decide(ctx, []decision{
		{"Administration", "dynamodb:UpdateItem", "", true},
		{"Administration", "dynamodb:DeleteTable", "", false},
		{"Applications", "dynamodb:Query", "", true},
		{"Applications", "dynamodb:DeleteItem", "", false},
		{"Site", "dynamodb:GetItem", "", false},
	})
}

func (p *proof) partitions(ctx context.Context) ([]Figure, error) {
	list := []decision{{"Applications", "dynamodb:PutItem", "POST#0", true}, {"Aggregate", "dynamodb:PutItem", "SEEN#a", true}, {"Aggregate", "dynamodb:PutItem", "TOKEN#a", false}}
	for _, role := range []string{"Applications", "Snapshot", "Deliver"} {
		for _, key := range []string{"FLAG#a", "PROJECT#a", "TOKEN#a", "USERS", "REGISTRY"} {
			list = append(list, decision{role, "dynamodb:PutItem", key, false})
		}
	}
	return p.decide(ctx, list)
}

func (p *proof) decide(ctx context.Context, list []decision) ([]Figure, error) {
	out, err := p.Shell(ctx, `aws iam list-roles --output text --query "Roles[?starts_with(RoleName,'$STACK-')].Arn" | tr '\t' '\n'
		aws dynamodb describe-table --table-name "$(resource Table)" --query Table.TableArn --output text`)
	if err != nil {
		return nil, err
	}
	arns := strings.Fields(out)
	for _, d := range list {
		role := slices.IndexFunc(arns, func(arn string) bool { return strings.Contains(arn, p.Stack+"-"+d.role+"Role") })
		if role < 0 {
			return nil, fmt.Errorf("there is no %sRole", d.role)
		}
		out, err := p.Shell(ctx, `aws iam simulate-principal-policy --policy-source-arn "$1" --resource-arns "$2" --action-names "$3" \
			${4:+--context-entries "ContextKeyName=dynamodb:LeadingKeys,ContextKeyType=stringList,ContextKeyValues=$4"} \
			--query 'EvaluationResults[0].EvalDecision' --output text`, arns[role], arns[len(arns)-1], d.action, d.key)
		if got := strings.TrimSpace(out); err == nil && (got == "allowed") != d.allowed {
			err = fmt.Errorf("%s %s %s: %s", d.role, d.action, d.key, got)
		}
		if err != nil {
			return nil, err
		}
	}
	return []Figure{figure("decisions as expected", "%d", len(list))}, nil
}
