// Generates the types from the descriptions of the service, without the parameter fields: an answer with only some of its
// fields does not have the type of the whole one.
import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";

for (const [from, to] of [["openapi", "schema"], ["manage", "managing"]]) {
  const description = JSON.parse(readFileSync(`../../server/testdata/${from}.golden.json`, "utf8"));
  for (const call of Object.values(description.paths).flatMap(Object.values)) {
    if (call.parameters) call.parameters = call.parameters.filter((p) => !p.$ref?.endsWith("/FieldsParam"));
  }
  // In an address a boolean is a word; in a program it is a boolean.
  const flag = description.components.schemas.Flag;
  if (flag) description.components.schemas.Flag = { type: "boolean", description: flag.description };
  writeFileSync(`src/${to}.ts`, astToString(await openapiTS(description)));
}
