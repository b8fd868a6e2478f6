// Shows the description of the interface. validatorUrl is null, so that nothing is asked of another host.
SwaggerUIBundle({
  url: "/docs/openapi.json",
  dom_id: "#page",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  filter: true,
  operationsSorter: null,
  validatorUrl: null,
});
