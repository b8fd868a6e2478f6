package main

import (
	"fmt"
	"strings"
)

// backup checks the daily backup, its copy to the vault of another account, and that it is of the table in use.
func backup(s *stack) (problems []string) {
	for _, id := range []string{"BackupVault", "BackupPlan", "BackupSelection", "BackupRole"} {
		if r := s.Resources[id]; r == nil || r.Condition != "HasBackup" {
			problems = append(problems, "there is no "+id+" on the condition HasBackup")
		}
	}
	if len(problems) > 0 || !s.everything {
		return problems
	}
	if vault := s.Resources["BackupVault"]; vault.DeletionPolicy != "Retain" {
		problems = append(problems, "the backups go with the stack")
	}
	rule := s.get("BackupPlan", "BackupPlan", "BackupPlanRule", 0)
	if got := at(rule, "CopyActions", 0, "DestinationBackupVaultArn"); got != aVault {
		problems = append(problems, fmt.Sprintf("the copy goes to %v", got))
	}
	if days := number(at(rule, "CopyActions", 0, "Lifecycle", "DeleteAfterDays")); days < 35 {
		problems = append(problems, fmt.Sprintf("the copy is kept for %v days", days))
	}
	of := texts(s.get("BackupSelection", "BackupSelection", "Resources"))
	if len(of) != 1 || !strings.HasSuffix(of[0], ":table/"+aTable) {
		problems = append(problems, fmt.Sprintf("the backup is of %v, want the table in use", of))
	}
	return problems
}

// front checks that the functions refuse requests that went around CloudFront, and that the execute-api address can be
// switched off, but not without a domain name.
func front(s *stack) (problems []string) {
	for _, name := range s.functions() {
		hash := s.get(name+"Function", "Environment", "Variables", "FRONT_SECRET_SHA256")
		if hash != aHash && at(hash, "Ref") != "FrontSecretHash" {
			problems = append(problems, fmt.Sprintf("%s knows the secret of the front as %v", name, hash))
		}
	}
	if disabled := s.get("Api", "Body", "servers", 0, "x-amazon-apigateway-endpoint-configuration", "disableExecuteApiEndpoint"); disabled != s.everything {
		problems = append(problems, fmt.Sprintf("whether the execute-api address is off is %v", disabled))
	}
	if s.Rules["ExecuteApiOffWithDomain"] == nil {
		problems = append(problems, "the interface may be without any address")
	}
	return problems
}

// probe checks that the probe runs where it has an address, that its failures count once, and that its alarm rings when it
// does not run.
func probe(s *stack) (problems []string) {
	state := "DISABLED"
	if s.everything {
		state = "ENABLED"
		if got := s.get("ProbeFunction", "Environment", "Variables", "ADDRESS"); got != anAddress {
			problems = append(problems, fmt.Sprintf("the probe calls %v", got))
		}
	}
	if got := s.get("ProbeFunctionOften", "State"); got != state {
		problems = append(problems, fmt.Sprintf("the schedule of the probe is %v, want %s", got, state))
	}
	if retries := s.get("ProbeFunctionEventInvokeConfig", "MaximumRetryAttempts"); retries != 0.0 {
		problems = append(problems, fmt.Sprintf("a failure of the probe is tried again: %v", retries))
	}
	problems = append(problems, s.alarm("ProbeFails", "AWS/Lambda", "Errors", `"${AWS::StackName}-Probe"`)...)
	if missing := s.get("ProbeFails", "TreatMissingData"); missing != "breaching" {
		problems = append(problems, fmt.Sprintf("a probe that does not run is %v", missing))
	}
	return problems
}
