// Writes a dashboard as TypeScript that the compiler holds against the types of Grafana's SDK.
//
// usage: node check-dashboards.mjs DASHBOARD.json >dashboard.ts
//
// Types of panels, and of what the panels of each type may hold. A panel of a type that is not here fails.
import { readFileSync } from "node:fs";

process.stdout.write(`
import type * as cog from "@grafana/grafana-foundation-sdk/cog";
import type * as dashboard from "@grafana/grafana-foundation-sdk/dashboard";
import type * as prometheus from "@grafana/grafana-foundation-sdk/prometheus";
import type * as stat from "@grafana/grafana-foundation-sdk/stat";
import type * as table from "@grafana/grafana-foundation-sdk/table";
import type * as timeseries from "@grafana/grafana-foundation-sdk/timeseries";

// As JSON has it: texts for enums, no functions.
type Json<T> =
    T extends string ? \`\${T}\` :
    T extends number | boolean | null | undefined ? T :
    T extends (infer Item)[] ? Json<Item>[] :
    T extends object ? { [Key in keyof T as T[Key] extends Function ? never : Key]: Json<T[Key]> } : T;
type Query = Required<Pick<prometheus.Dataquery, "refId" | "expr" | "datasource">> & prometheus.Dataquery;
type Of<Type extends string, Options, Custom> =
    Omit<Json<dashboard.Panel>, "type" | "targets" | "options" | "fieldConfig"> & {
        type: Type;
        id: number;
        title: string;
        description: string;
        targets: Json<Query>[];
        options: Json<Options>;
        fieldConfig: Omit<Json<dashboard.FieldConfigSource>, "defaults"> & {
            defaults: Omit<Json<dashboard.FieldConfig>, "custom"> & { custom?: Json<Custom> };
        };
    };
type Panel =
    | Json<dashboard.RowPanel>
    | Of<"stat", stat.Options, never>
    | Of<"table", Partial<table.Options>, Partial<table.FieldConfig>>
    | Of<"timeseries", timeseries.Options, timeseries.FieldConfig>;
type Dashboard = Omit<Json<dashboard.Dashboard>, "panels"> & { uid: string; title: string; panels: Panel[] };

export const it = (${readFileSync(process.argv[2], "utf8").trim()}) satisfies Dashboard;
`);
